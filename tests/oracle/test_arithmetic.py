"""Picture arithmetic against NumPy in double: with a second picture, a number, one channel for all, other depths."""
import unittest

import numpy as np

from harness import FORMATS, OracleCase, picture, run, run_many, white

# The second picture of every case is made from the first by a stage that is exact: its mirror image.
SECOND = ("flip horizontal -> @b", "from @input")


def divided(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b == 0, np.sign(a), a / b)


def hard_light(a, b):
    return np.where(b <= 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b))


def soft_light(a, b):
    low, root = ((16 * a - 12) * a + 4) * a, np.sqrt(a)
    return np.where(b <= 0.5, a - (1 - 2 * b) * a * (1 - a), a + (2 * b - 1) * (np.where(a <= 0.25, low, root) - a))


def dodge(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a <= 0, 0, np.where(b >= 1, 1, np.minimum(1, a / (1 - b))))


def burn(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a >= 1, 1, np.where(b <= 0, 0, 1 - np.minimum(1, (1 - a) / b)))


# On fractions of full scale.
OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divided,
    "blend mode=normal": lambda a, b: b,
    "blend mode=multiply": lambda a, b: a * b,
    "blend mode=screen": lambda a, b: a + b - a * b,
    "blend mode=overlay": lambda a, b: hard_light(b, a),
    "blend mode=hardlight": hard_light,
    "blend mode=softlight": soft_light,
    "blend mode=darken": np.minimum,
    "blend mode=lighten": np.maximum,
    "blend mode=dodge": dodge,
    "blend mode=burn": burn,
    "blend mode=difference": lambda a, b: np.abs(a - b),
    "blend mode=exclusion": lambda a, b: a + b - 2 * a * b,
    "blend mode=average": lambda a, b: (a + b) / 2,
    "blend mode=add": lambda a, b: a + b,
}


def with_operand(operation, operand):
    name, _, rest = operation.partition(" ")
    return f"{name} by={operand} {rest}".rstrip()


class Arithmetic(OracleCase):
    def near_quotient(self, got, exact, what):
        """Quotients and products of f32: relative to the result where it is large, else to full scale."""
        top = white(got)
        self.near(got, exact, what, tie=top * 4e-7 + 1e-5, terms=np.maximum(np.abs(exact), 4 * top), relative=1e-6)

    def test_two_pictures(self):
        for dtype in FORMATS:
            for seed, shape in enumerate(((1, 1), (1, 67), (61, 45, 3), (33, 31, 4), (45, 29, 2))):
                array = picture(seed, shape, dtype)
                top = white(array)
                a, b = array / top, array[:, ::-1] / top
                got = run_many(array, self.branches())
                for name, operation in OPERATIONS.items():
                    self.near_quotient(got[name],
                                       operation(a.astype(np.float64), b.astype(np.float64)) * top,
                                       f"{name} {array.dtype} {shape}")

    def branches(self):
        """Taps have one namespace: every branch names its own second picture."""
        out = {}
        for i, name in enumerate(OPERATIONS):
            out[name] = [f"flip horizontal -> @b{i}", "from @input", with_operand(name, f"@b{i}")]
        return out

    def test_numbers(self):
        for dtype in FORMATS:
            array = picture(21, (61, 45, 3), dtype)
            top = white(array)
            a = array.astype(np.float64) / top
            for number, text in ((0.25, "25%"), (0.6, "0.6"), (1.0, "100%")):
                got = run_many(array, {name: [with_operand(name, text)] for name in OPERATIONS})
                for name, operation in OPERATIONS.items():
                    self.near_quotient(got[name], operation(a, np.full_like(a, number)) * top, f"{name} by={text}")

    def test_factors_above_one(self):
        array = picture(22, (61, 45), np.uint8)
        self.near(run(array, "multiply 150%"), array * 1.5, "multiply 150%")
        self.near(run(array, "divide 0.5"), array * 2.0, "divide 0.5")

    def test_opacity(self):
        array = picture(23, (61, 45), np.uint8)
        exact = array + (array[:, ::-1].astype(float) - array) * 0.3
        self.near(run(array, *SECOND, "blend by=@b opacity=30%"), exact, "opacity=30%")

    def test_one_channel_serves_all(self):
        for dtype in FORMATS:
            array = picture(24, (45, 61, 3), dtype)
            top = white(array)
            exact = (array / top).astype(np.float64) * (array[..., :1] / top).astype(np.float64) * top
            self.near_quotient(run(array, "gray [1 0 0] -> @b", "from @input", "multiply by=@b"), exact, "one channel")

    def test_other_depths_are_scaled(self):
        array = picture(25, (45, 61), np.uint8)
        got = run(array, "depth 16bit", "flip horizontal -> @b", "from @input", "add by=@b")
        self.near(got, array + array[:, ::-1].astype(float), "8 and 16 bits")
        got = run(array, "depth float", "flip horizontal -> @b", "from @input", "subtract by=@b")
        self.near(got, array - array[:, ::-1].astype(float), "8 bits and float")

    def test_input_with_itself(self):
        array = picture(26, (45, 61), np.uint8)
        self.same(run(array, "subtract by=@input"), np.zeros_like(array), "a - a")
        self.same(run(array, "divide by=@input"), np.where(array > 0, 255, 0).astype(np.uint8), "a / a")

    def test_differences_keep_their_sign_until_the_end(self):
        array = picture(27, (45, 61), np.uint8)
        a, b = array.astype(int), array[:, ::-1].astype(int)
        self.same(run(array, *SECOND, "subtract by=@b", "add by=@b"), array, "what goes below black comes back")
        self.same(run(array, *SECOND, "add by=@b", "subtract by=@b"), array, "what goes above white comes back")
        self.same(run(array, *SECOND, "subtract by=@b"), np.clip(a - b, 0, 255).astype(np.uint8), "clamped at the end")

    def test_high_pass_by_hand_is_what_sharpen_does(self):
        array = picture(28, (61, 45), np.float32)
        by_hand = run(array, "gaussian 2px -> @soft", "from @input", "subtract by=@soft", "multiply 0.5 -> @detail",
                      "from @input", "add by=@detail")
        self.near(run(array, "sharpen 0.5 sigma=2px"), by_hand, "sharpen", terms=np.full(array.shape, 4.0))


if __name__ == "__main__":
    unittest.main()
