internal import DocumentModel
internal import QueryEngine

/// The key of a geo point in the index: the bits of its coordinates, alternating (Z-order), so that the points of a cell, a square
/// whose sides are a power of two, have adjacent keys.
///
/// Coordinates are in units of 1e-7 degrees, rounded down.
struct GeoCell {
    /// The key.
    let key: UInt64

    /// The maximum number of ranges of keys for a box.
    private static let maximumRangeCount = 32

    /// Creates the key of a point.
    init(_ point: GeoPoint) {
        let box = GeoIndexBox(point)
        key = Self.spread(Self.unsigned(box.latitudes.lowerBound)) << 1 | Self.spread(Self.unsigned(box.longitudes.lowerBound))
    }

    /// Decodes a key in the index; `nil` for other bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        key = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes of the key, whose order is that of the keys.
    var bytes: [UInt8] { withUnsafeBytes(of: key.bigEndian) { Array($0) } }

    /// The smallest box of the points with the key.
    var box: GeoIndexBox {
        let (latitude, longitude) = (Self.signed(Self.gather(key >> 1)), Self.signed(Self.gather(key)))
        return GeoIndexBox(latitudes: latitude...latitude + 1, longitudes: longitude...longitude + 1)
    }

    /// Returns ranges of keys, in their order, which include those of all points whose boxes overlap a box.
    static func ranges(of box: GeoIndexBox) -> [ClosedRange<UInt64>] {
        // The box of a point extends by one unit.
        let latitudes = unsigned(box.latitudes.lowerBound &- 1)...unsigned(box.latitudes.upperBound)
        let longitudes = unsigned(box.longitudes.lowerBound &- 1)...unsigned(box.longitudes.upperBound)
        // Cells that overlap the box, each with the number of bits of its sides; those are divided that reach beyond it.
        var cells: [(latitude: UInt32, longitude: UInt32, bits: Int)] = [(0, 0, 32)]
        var bits = 32
        while bits > 0 {
            bits -= 1
            var divided: [(latitude: UInt32, longitude: UInt32, bits: Int)] = []
            for cell in cells {
                let (latitude, longitude) = (side(cell.latitude, cell.bits), side(cell.longitude, cell.bits))
                let isInside =
                    latitudes.contains(latitude.lowerBound) && latitudes.contains(latitude.upperBound)
                    && longitudes.contains(longitude.lowerBound) && longitudes.contains(longitude.upperBound)
                guard !isInside else {
                    divided.append(cell)
                    continue
                }
                let half = UInt32(1) << UInt32(bits)
                for (north, east) in [(false, false), (false, true), (true, false), (true, true)] {
                    let latitude = north ? cell.latitude + half : cell.latitude
                    let longitude = east ? cell.longitude + half : cell.longitude
                    if side(latitude, bits).overlaps(latitudes), side(longitude, bits).overlaps(longitudes) {
                        divided.append((latitude, longitude, bits))
                    }
                }
            }
            guard divided.count <= maximumRangeCount else { break }
            cells = divided
        }
        var ranges: [ClosedRange<UInt64>] = []
        for cell in cells {
            let first = spread(cell.latitude) << 1 | spread(cell.longitude)
            let last = first | (cell.bits == 32 ? .max : (1 << UInt64(2 * cell.bits)) - 1)
            if let range = ranges.last, range.upperBound &+ 1 == first {
                ranges[ranges.count - 1] = range.lowerBound...last
            } else {
                ranges.append(first...last)
            }
        }
        return ranges
    }

    private static func side(_ start: UInt32, _ bits: Int) -> ClosedRange<UInt32> {
        start...(start | (bits == 32 ? .max : (1 << UInt32(bits)) - 1))
    }

    private static func unsigned(_ coordinate: Int32) -> UInt32 { UInt32(bitPattern: coordinate) ^ (1 << 31) }

    private static func signed(_ coordinate: UInt32) -> Int32 { Int32(bitPattern: coordinate ^ (1 << 31)) }

    /// The masks of the steps of a spread, each with the distance of its shift.
    private static let steps: [(shift: UInt64, mask: UInt64)] = [
        (16, 0x0000_ffff_0000_ffff), (8, 0x00ff_00ff_00ff_00ff), (4, 0x0f0f_0f0f_0f0f_0f0f), (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ]

    /// Moves the bits of a number to the even positions.
    private static func spread(_ number: UInt32) -> UInt64 {
        steps.reduce(UInt64(number)) { bits, step in (bits | bits << step.shift) & step.mask }
    }

    /// Moves the bits at the even positions together.
    private static func gather(_ bits: UInt64) -> UInt32 {
        var bits = bits & 0x5555_5555_5555_5555
        for (shift, mask) in [
            (1, 0x3333_3333_3333_3333), (2, 0x0f0f_0f0f_0f0f_0f0f), (4, 0x00ff_00ff_00ff_00ff), (8, 0x0000_ffff_0000_ffff),
            (16, 0x0000_0000_ffff_ffff),
        ] as [(UInt64, UInt64)] {
            bits = (bits | bits >> shift) & mask
        }
        return UInt32(bits)
    }
}
