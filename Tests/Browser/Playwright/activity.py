"""Writes the activity of a server over the last week: the same all the time, so that charts look the same at any time.

    activity.py DATA        writes activity.samples to the data folder, which it creates (docs/formats/activity.md)
"""

import pathlib
import struct
import sys
import time

SPANS = [(10, 360), (300, 288), (1800, 336)]
BUCKETS = 14
RECORD = struct.Struct(f"<QI5I{BUCKETS}I5Q")


def crc32c(data):
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum = checksum >> 8 ^ table[(checksum ^ byte) & 255]
    return checksum ^ 0xFFFFFFFF


def record(start, seconds):
    """A slot with 40 reads, 12 writes, 8 queries and one failure a second, of which every tenth is the server's."""
    counts = [40 * seconds, 12 * seconds, 8 * seconds, seconds, seconds // 10]
    buckets = [0] * BUCKETS
    buckets[1:7] = [20 * seconds, 15 * seconds, 8 * seconds, 3 * seconds, seconds, seconds]
    return RECORD.pack(start, seconds * 1000, *counts, *buckets, 30, 120, 80 << 20, 64 << 20, 200 << 30)


def samples(now):
    data = b"hearthac" + struct.pack("<4I", 1, RECORD.size, BUCKETS, sum(count for _, count in SPANS))
    for seconds, count in SPANS:
        records = [bytes(RECORD.size)] * count
        last = now // seconds
        for slot in range(last - count + 1, last + 1):
            records[slot % count] = record(slot * seconds, seconds)
        data += b"".join(records)
    return data + struct.pack("<I", crc32c(data))


def write(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "activity.samples").write_bytes(samples(int(time.time())))


if __name__ == "__main__":
    write(sys.argv[1])
