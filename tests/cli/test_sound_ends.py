"""The beginning and the end of coded sounds: as long as they were, and as near to them as in the middle."""
import struct
import unittest
import wave

import numpy as np

from harness import CliCase


class SoundEnds(CliCase):
    def tone(self, count, rate, channels=1):
        """In a.wav: tones of which each channel has its own."""
        x = 0.5 * np.sin(np.arange(count)[:, None] / rate * 2 * np.pi * (440 + 110 * np.arange(channels)) + 1)
        with wave.open(str(self.folder / "a.wav"), "wb") as out:
            out.setparams((channels, 2, rate, count, "NONE", ""))
            out.writeframes(np.round(x * 2 ** 15).astype("<i2").tobytes())
        return x

    def coded(self, kind):
        self.smp("convert", "-f", "-q", "a.wav", f"a.{kind}")
        self.smp("convert", "-f", "-q", f"a.{kind}", "back.npy")
        return np.load(self.folder / "back.npy")

    def test_a_tone_that_ends_in_its_midst_is_an_opus_to_its_end(self):
        """Its last packet reaches behind the end: whatever stands there is heard in front of it too."""
        for rate, channels in ((48000, 1), (48000, 2), (24000, 1), (8000, 1)):
            for count in (rate // 2, rate // 2 + rate // 160, rate // 2 + rate // 50 - 1):
                with self.subTest(rate=rate, channels=channels, count=count):
                    given = self.tone(count, rate, channels)
                    found = self.coded("opus")
                    self.assertEqual(found.shape, given.shape)
                    wrong, part = np.abs(found - given), rate // 50
                    middle = max(wrong[at:at + part].max() for at in range(count // 2, count - 4 * part, part))
                    self.assertLess(wrong[-part:].max(), 2 * middle)

    def test_an_opus_shorter_than_a_packet_is_a_tone_too(self):
        longer = np.abs(self.tone(4800, 48000, 6)[:960] - self.coded("opus")[:960]).max(0)
        for count in (1, 2, 647, 648, 649, 959, 960):
            given = self.tone(count, 48000, 6)
            found = self.coded("opus")
            self.assertEqual(found.shape, given.shape)
            for channel in (0, 1, 2, 4, 5):  # the fourth is for low notes alone
                self.assertLess(np.abs(given - found).max(0)[channel], 4 * longer[channel], (count, channel))

    def test_a_w64_ends_with_its_sound(self):
        """libsndfile takes what fills its last chunk up for sound, and so do sox and Audacity."""
        for count in (1, 2, 3, 5, 959):
            self.tone(count, 8000)
            self.smp("convert", "-f", "a.wav", "a.w64")
            data = (self.folder / "a.w64").read_bytes()
            at = data.index(b"data") + 16
            self.assertEqual(struct.unpack("<Q", data[at:at + 8]), (24 + 2 * count,))
            self.assertEqual(struct.unpack("<Q", data[16:24]), (len(data),))
            self.assertEqual(data[at + 8:], (self.folder / "a.wav").read_bytes()[44:])


if __name__ == "__main__":
    unittest.main()
