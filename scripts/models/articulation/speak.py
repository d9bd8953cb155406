"""Speech whose every sound has a known time: `speak.py OUT.wav < request.json` writes the voice and prints its sounds.

The request is {"voice": an espeak-ng voice, "rate": words per minute, "sentences": [...], "pause": seconds of silence
before, between and after them}; the answer a list of {"ipa", "start", "end"} in seconds of the file. espeak-ng tells
the times of its phonemes to callers of its library only. Needs nothing but Python and that library.
"""

import ctypes
import json
import sys
import wave

LIBRARY = "libespeak-ng.so.1"

# From espeak-ng/speak_lib.h.
SYNCHRONOUS = 2
PHONEME_EVENTS_IN_IPA = 1 | 2
RATE = 1
UTF8 = 1
LIST_TERMINATED, PHONEME = 0, 7


class Name(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", Name),
    ]


Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


class Speaker:
    """One voice of espeak-ng."""

    def __init__(self, voice, words_per_minute):
        try:
            self.library = ctypes.CDLL(LIBRARY)
        except OSError:
            sys.exit(f"{LIBRARY} is missing: install the package espeak-ng (Debian: apt-get install espeak-ng)")
        self.sample_rate = self.library.espeak_Initialize(SYNCHRONOUS, 0, None, PHONEME_EVENTS_IN_IPA)
        self.callback = Callback(self._receive)  # kept, because the library does not
        self.library.espeak_SetSynthCallback(self.callback)
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            sys.exit(f"espeak-ng has no voice {voice}")
        self.library.espeak_SetParameter(RATE, words_per_minute, 0)

    def _receive(self, samples, count, events):
        if samples and count > 0:
            self.pcm += ctypes.string_at(samples, 2 * count)
        i = 0
        while events[i].type != LIST_TERMINATED:
            if events[i].type == PHONEME:
                at = ctypes.addressof(events[i]) + Event.id.offset
                name = ctypes.string_at(at, 8).split(b"\0")[0].decode("utf8", "ignore")
                self.begun.append((events[i].sample / self.sample_rate, name))
            i += 1
        return 0

    def say(self, sentence):
        """16-bit samples, and where in them each phoneme begins."""
        self.pcm, self.begun = bytearray(), []
        text = sentence.encode()
        self.library.espeak_Synth(text, len(text) + 1, 0, 1, 0, UTF8, None, None)
        return self.pcm, self.begun


def main():
    request = json.load(sys.stdin)
    speaker = Speaker(request["voice"], request["rate"])
    rate = speaker.sample_rate
    silence = bytes(2 * round(request["pause"] * rate))
    pcm, sounds = bytearray(silence), []
    for sentence in request["sentences"]:
        spoken, begun = speaker.say(sentence)
        offset, length = len(pcm) / 2 / rate, len(spoken) / 2 / rate
        ends = [start for start, _ in begun[1:]] + [length]
        sounds += [
            {"ipa": name, "start": offset + start, "end": offset + end}
            for (start, name), end in zip(begun, ends)
            if name
        ]
        pcm += spoken + silence
    with wave.open(sys.argv[1], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
    json.dump(sounds, sys.stdout)


main()
