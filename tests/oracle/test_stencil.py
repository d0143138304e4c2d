"""Neighbourhood stages against scipy.ndimage and OpenCV in double arithmetic: formats, channels, borders, sizes."""
import unittest

import cv2
import numpy as np
from scipy import ndimage

from harness import (EDGES, FORMATS, SIZES, OracleCase, matrix, per_channel, picture, run, run_many, shapes, some,
                     white)

CONSTANT_FREE = tuple(EDGES)


def gaussian_weights(sigma, truncate=4.0):
    """Samples of the gaussian, as scipy.ndimage and OpenCV take them."""
    radius = int(truncate * sigma + 0.5)
    k = np.arange(-radius, radius + 1, dtype=np.float64)
    weights = np.exp(-0.5 * (k / sigma) ** 2)
    return weights / weights.sum()


def separable(array, weights, edge, down=None):
    """weights along rows, then the same, or `down`, along columns, in double."""
    mode = EDGES[edge][1]
    out = ndimage.correlate1d(array.astype(np.float64), weights, axis=1, mode=mode)
    return ndimage.correlate1d(out, weights if down is None else down, axis=0, mode=mode)


def gaussian_passes(weights, dtype):
    """Row and column weights of a blur. 8-bit pictures have row weights of whole 65536ths, up to radius 12: in
    proportion at the best of 4096 scales, the largest of equally good ones."""
    radius = len(weights) // 2
    if dtype != np.uint8 or radius > 12:
        return weights, weights
    whole = np.floor(np.outer(np.arange(65535, 61439, -1), weights) + 0.5)
    sums = whole.sum(1)
    off = np.abs(whole / sums[:, None] - weights).sum(1)
    best = np.argmin(np.where(sums <= 65536, off, np.inf))
    return whole[best] / 65536, weights * 65536 / sums[best]


def gaussian(array, weights, edge, dtype=None):
    """The blur of a picture of that dtype, or of the array's own, in double."""
    across, down = gaussian_passes(weights, dtype or array.dtype)
    return separable(array, across, edge, down)


def plane_filter(array, kernel, edge, flip=False):
    """Each channel's plane with a 2-D kernel, in double."""
    function = ndimage.convolve if flip else ndimage.correlate
    return per_channel(lambda plane: function(plane.astype(np.float64), kernel, mode=EDGES[edge][1]), array)


class Stencils(OracleCase):
    def every(self, branch, exact, sizes=SIZES, edges=CONSTANT_FREE, channels=(1, 2, 3, 4), terms=None, tie=None):
        """branch(edge) -> statement; exact(array, edge) -> double code values; every format, size and border."""
        for dtype in FORMATS:
            for seed, shape in shapes(channels=channels, sizes=sizes):
                array = picture(seed + 100, shape, dtype)
                got = run_many(array, {edge: [branch(edge)] for edge in edges})
                for edge in edges:
                    summed = terms(np.abs(array), edge) if terms else None
                    self.near(got[edge], exact(array, edge), branch(edge), terms=summed, tie=tie)

    def test_gaussian_equals_double_arithmetic(self):
        for sigma in (0.6, 2, 4.25):
            weights = gaussian_weights(sigma)
            self.every(lambda edge: f"gaussian {sigma}px edge={edge}", lambda a, edge: gaussian(a, weights, edge))

    def test_gaussian_truncate_sets_the_radius(self):
        weights = gaussian_weights(1.5, truncate=2)
        self.every(lambda e: f"gaussian 1.5px truncate=2 edge={e}",
                   lambda a, e: gaussian(a, weights, e),
                   sizes=((61, 45),),
                   channels=(1,))

    def test_gaussian_wider_than_the_picture(self):
        weights = gaussian_weights(12)
        self.every(lambda e: f"gaussian 12px edge={e}",
                   lambda a, e: gaussian(a, weights, e),
                   sizes=((5, 7), (1, 1), (1, 9), (9, 1)),
                   channels=(1, 3))

    def test_gaussian_is_that_of_scipy_and_opencv_at_every_sigma(self):
        array = picture(7, (40, 31), np.float32)
        for sigma in (0.1, 0.2, 0.35, 0.5, 0.6, 0.69, 0.8, 1, 1.3, 1.5, 3.3, 5):
            got = run(array, f"gaussian {sigma}px edge=mirror")
            radius = int(4 * sigma + 0.5)
            plane = array.astype(np.float64)
            scipy = ndimage.gaussian_filter(plane, sigma, mode="mirror")
            size = (2 * radius + 1, 2 * radius + 1)
            opencv = cv2.GaussianBlur(plane, size, sigma, borderType=cv2.BORDER_REFLECT_101)
            for other, name in ((scipy, "scipy"), (opencv, "OpenCV")):
                self.near(got, other, f"gaussian {sigma}px against {name}")

    def test_gaussian_keeps_flat_pictures(self):
        for dtype in FORMATS:
            array = np.full((40, 31, 3), 0.7 if dtype == np.float32 else 200, dtype)
            self.near(run(array, "gaussian 3px"), array, "flat", relative=5e-7)

    def test_box_is_the_mean(self):
        for size in (1, 3, 5, 9):
            weights = np.full(size, 1 / size)
            self.every(lambda e: f"box {size}px edge={e}", lambda a, e: separable(a, weights, e), channels=(1, 3, 4))

    def test_box_wider_than_the_picture(self):
        weights = np.full(31, 1 / 31)
        self.every(lambda e: f"box 31px edge={e}",
                   lambda a, e: separable(a, weights, e),
                   sizes=((5, 7), (1, 1), (1, 9), (9, 1)),
                   channels=(1,))

    def kernels(self):
        rng = np.random.default_rng(5)
        yield "3x3", np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], float)
        yield "asymmetric 3x5", np.rint(rng.normal(0, 4, (3, 5))) / 8
        yield "1x7", np.rint(rng.normal(0, 4, (1, 7))) / 8
        yield "7x1", np.rint(rng.normal(0, 4, (7, 1))) / 8
        yield "7x7", np.rint(rng.normal(0, 8, (7, 7))) / 64

    def test_convolve_equals_scipy(self):
        for name, kernel in some(self.kernels()):
            self.every(
                lambda e: f"convolve {matrix(kernel)} scale=1 edge={e}",
                lambda a, e: plane_filter(a, kernel, e, flip=True),
                sizes=((1, 1), (1, 67), (67, 1), (61, 45)),
                terms=lambda a, e: plane_filter(a, np.abs(kernel), e, flip=True),
            )

    def test_correlate_equals_scipy(self):
        for name, kernel in some(self.kernels()):
            self.every(
                lambda e: f"correlate {matrix(kernel)} scale=1 edge={e}",
                lambda a, e: plane_filter(a, kernel, e),
                sizes=((1, 1), (2, 3), (61, 45)),
                channels=(1, 4),
                terms=lambda a, e: plane_filter(a, np.abs(kernel), e),
            )

    def test_correlate_equals_opencv(self):
        modes = {
            "clamp": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT, "mirror": cv2.BORDER_REFLECT_101, "zero":
            cv2.BORDER_CONSTANT
        }
        for name, kernel in some(self.kernels()):
            for dtype in FORMATS:
                array = picture(3, (61, 45, 3), dtype)
                got = run_many(array, {e: [f"correlate {matrix(kernel)} scale=1 edge={e}"] for e in modes})
                for edge, mode in modes.items():
                    exact = cv2.filter2D(array.astype(np.float64), cv2.CV_64F, kernel, borderType=mode)
                    terms = cv2.filter2D(np.abs(array).astype(np.float64), cv2.CV_64F, np.abs(kernel), borderType=mode)
                    self.near(got[edge], exact, f"{name} {edge}", terms=terms)

    def test_kernel_offset_moves_results(self):
        kernel = np.array([[1, 0, -1]], float)
        for dtype in FORMATS:
            array = picture(8, (33, 29), dtype)
            exact = plane_filter(array, kernel, "clamp") + 0.5 * white(array)
            self.near(run(array, "correlate [1 0 -1] scale=1 offset=50%"), exact, "offset=50%",
                      terms=np.full(exact.shape, 2.5 * white(array)))

    def test_sobel_equals_scipy(self):
        for output in ("x", "y", "magnitude"):

            def exact(a, edge):
                gx, gy = (per_channel(
                    lambda p, ax=ax: ndimage.sobel(p.astype(np.float64), axis=ax, mode=EDGES[edge][1]), a)
                          for ax in (1, 0))
                return {"x": gx, "y": gy, "magnitude": np.hypot(gx, gy)}[output]

            ones = np.array([[1, 2, 1], [2, 0, 2], [1, 2, 1]], float)
            self.every(lambda e: f"sobel output={output} edge={e}", exact, terms=lambda a, e: plane_filter(a, ones, e))

    def test_laplacian_equals_scipy(self):
        absolute = np.array([[0, 1, 0], [1, 4, 1], [0, 1, 0]], float)
        self.every(
            lambda e: f"laplacian edge={e}",
            lambda a, e: per_channel(lambda p: ndimage.laplace(p.astype(np.float64), mode=EDGES[e][1]), a),
            terms=lambda a, e: plane_filter(a, absolute, e),
        )

    def test_median_equals_scipy(self):
        for size in (3, 5):
            for dtype in FORMATS:
                for seed, shape in shapes():
                    array = picture(seed + 300, shape, dtype)
                    got = run_many(array, {edge: [f"median {size} edge={edge}"] for edge in EDGES})
                    for edge, (_, mode) in EDGES.items():
                        want = per_channel(lambda plane: ndimage.median_filter(plane, size, mode=mode), array)
                        self.same(got[edge], want, f"median {size} edge={edge} {array.dtype} {shape}")

    def test_median_equals_opencv(self):
        for size in (3, 5):
            for dtype in FORMATS:
                for channels in some((1, 3, 4)):
                    array = picture(31, (61, 45) + (channels,) * (channels > 1), dtype)
                    got = run(array, f"median {size}")
                    self.same(got, cv2.medianBlur(array, size), f"median {size} {array.dtype} x{channels}")

    def test_sharpen_adds_what_a_blur_takes_away(self):
        weights = gaussian_weights(1.5)

        def exact(a, edge):
            blurred = separable(a, weights, edge)
            return a + 0.75 * (a - blurred)

        self.every(lambda e: f"sharpen amount=0.75 sigma=1.5px threshold=0 edge={e}", exact, terms=lambda a, e: a * 3.0)

    def test_sharpen_leaves_small_differences_alone(self):
        weights = gaussian_weights(1)
        for dtype in FORMATS:
            array = picture(21, (61, 45), dtype)
            limit = 0.1 * white(array)
            difference = array - separable(array, weights, "clamp")
            exact = np.where(np.abs(difference) > limit, array + 2 * difference, array)
            got = run(array, "sharpen amount=2 sigma=1px threshold=10%")
            clear = np.abs(np.abs(difference) - limit) > 1e-5 * white(array)  # on which side is certain
            self.assertGreater(clear.mean(), 0.9)
            exact[~clear] = got[~clear]
            self.near(got, exact, "threshold=10%", terms=5.0 * array)


if __name__ == "__main__":
    unittest.main()
