"""Parts of a test program in Python, so that meson can run a part that mostly waits beside the others."""
import unittest


def chosen(module, arguments):
    """What to hand to unittest of the module's test classes: those named, or with 'but' before the names all others."""
    if arguments[:1] != ["but"]:
        return arguments
    left_out = arguments[1:]
    tests = {name: value for name, value in vars(module).items()
             if isinstance(value, type) and issubclass(value, unittest.TestCase)
             and unittest.defaultTestLoader.getTestCaseNames(value)}
    unknown = set(left_out) - set(tests)
    if unknown:
        raise SystemExit("no test class %s" % ", ".join(sorted(unknown)))
    return [name for name in tests if name not in left_out]
