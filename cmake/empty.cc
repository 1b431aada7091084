// Gives a room without sources yet an object file.
