"""The small grammars of the generator: availability expressions and C declarators."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "api"))

import facts  # noqa: E402
import lacks  # noqa: E402


class Availability(unittest.TestCase):
    def test_none_and_all(self):
        self.assertEqual(lacks.masks("-", "base"), [0, 0, 0, 0])
        self.assertEqual(lacks.masks("all", ""), [lacks.ALL] * 4)

    def test_since(self):
        self.assertEqual(lacks.masks("-", "7.0"), [0, 0, 0, 0])
        self.assertEqual(lacks.masks("-", "8.2"), [lacks.ALL, 0, 0, 0])
        self.assertEqual(lacks.masks("-", "9.2"), [lacks.ALL] * 4)

    def test_before_and_from(self):
        self.assertEqual(lacks.masks("A2 before 9.0", "base"), [4, 4, 0, 0])
        self.assertEqual(lacks.masks("A2 from 9.0", "base"), [0, 0, 4, 4])
        self.assertEqual(lacks.masks("950, A3; A2 before 8.2", "base"), [7, 3, 3, 3])

    def test_all_but(self):
        self.assertEqual(lacks.masks("all but 950, A3", "base"), [0b111100] * 4)

    def test_spelling(self):
        for text in ("A4", "A2 until 9.0", "A2 before nine", "all but", ""):
            with self.assertRaises(ValueError, msg=text):
                lacks.masks(text or ",", "base")


class Declarators(unittest.TestCase):
    def test_forms(self):
        for type_, name, text in (
                ("int", "a", "int a"), ("void *", "a", "void *a"),
                ("int32_t * const", "a", "int32_t * const a"),
                ("char[32]", "a", "char a[32]"), ("int64_t[2][3]", "a", "int64_t a[2][3]"),
                ("char *[4]", "a", "char *a[4]"), ("int64_t (*)[2]", "a", "int64_t (*a)[2]"),
                ("void *(*)(void *, size_t)", "F", "void *(*F)(void *, size_t)"),
                ("int (*const)(int)", "a", "int (*const a)(int)")):
            self.assertEqual(facts.declare(type_, name), text)


if __name__ == "__main__":
    unittest.main()
