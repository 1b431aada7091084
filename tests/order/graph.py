"""The graph of one program: what its calls and tasks are, and which of them come before which (docs/design/order.md).

Nodes are numbered in the order in which they are looked at, so every edge leads to a higher number. An edge is either
strong or holds by the way only; a node has, as the bits of an integer, all nodes it can be reached from.
"""

PAGE = 4096
STRONG, BY_THE_WAY = True, False
MISSING, IMPLICIT = "missing-order", "implicit-order"


def linear(address, size):
    return box(address, size, size, 1)


def box(address, pitch, width, rows):
    """The bytes of a box, one by one: a bit each, by page."""
    pages = {}
    for row in range(rows):
        at, end = address + row * pitch, address + row * pitch + width
        while at < end:
            page, offset = divmod(at, PAGE)
            part = min(end - at, PAGE - offset)
            pages[page] = pages.get(page, 0) | ((1 << part) - 1) << offset
            at += part
    return pages


class Graph:
    def __init__(self):
        self.names = []     # (stream id, task number, function); -1 and 0 for what the host does
        self.edges = []     # of each node: (earlier node, strong)
        self.strongly = []  # of each node: itself and what reaches it by strong edges
        self.anyhow = []    # by any edges
        self._accesses = {}  # page -> [(node, bytes, writes)]

    def add(self, name, edges):
        node = len(self.names)
        strongly = anyhow = 1 << node
        for earlier, strong in edges:
            anyhow |= self.anyhow[earlier]
            if strong:
                strongly |= self.strongly[earlier]
        self.names.append(name)
        self.edges.append(edges)
        self.strongly.append(strongly)
        self.anyhow.append(anyhow)
        return node

    def access(self, node, sides):
        """Looks at a node's accesses [(bytes, writes)] and keeps them. Returns the verdict: the kind and the other
        node, or None."""
        verdict = (self._latest(sides, MISSING, self.anyhow[node])
                   or self._latest(sides, IMPLICIT, self.strongly[node]))
        for pages, writes in sides:
            for page, bits in pages.items():
                self._accesses.setdefault(page, []).append((node, bits, writes))
        return verdict

    def forget(self, pages):
        """These bytes are of nobody any more."""
        for page, bits in pages.items():
            left = [(node, theirs & ~bits, writes) for node, theirs, writes in self._accesses.get(page, ())]
            self._accesses[page] = [access for access in left if access[1]]

    def _latest(self, sides, kind, before):
        found = -1
        for pages, writes in sides:
            for page, bits in pages.items():
                for other, theirs, they_write in self._accesses.get(page, ()):
                    if other > found and bits & theirs and (writes or they_write) and not before >> other & 1:
                        found = other
        return (kind, found) if found >= 0 else None
