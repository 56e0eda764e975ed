import StrictJSON
import TestSupport
import UTF8Text

/// A JSON value in memory, for comparison with parsed nodes.
indirect enum JSONSample: Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(UInt64)
    case outOfRange
    case string([UInt8])
    case array([JSONSample])
    case object([Member])

    struct Member: Equatable {
        let key: [UInt8]
        let value: JSONSample
    }
}

extension JSONSample {
    /// Creates the value of a node through its public API.
    init(_ node: JSONNode) {
        switch node.kind {
        case .null: self = .null
        case .boolean: self = .boolean(node.boolean == true)
        case .number: self = Self(node.number ?? .outOfRange)
        case .string: self = .string(Array((node.string ?? "").utf8))
        case .array: self = .array((node.elements.map(Array.init) ?? []).map(JSONSample.init))
        case .object:
            let members = node.members.map(Array.init) ?? []
            self = .object(members.map { Member(key: Array($0.key.utf8), value: JSONSample($0.value)) })
        }
    }

    init(_ number: JSONNumber) {
        switch number {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value.bitPattern)
        case .outOfRange: self = .outOfRange
        }
    }

    /// Writes the value; `outOfRange` as a literal beyond the range of doubles.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .integer(let value): writer.integer(value)
        case .double(let bits): writer.double(Double(bitPattern: bits))
        case .outOfRange: writer.raw("1e400".utf8)
        case .string(let bytes): writer.string(String(decoding: bytes, as: UTF8.self))
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(UTF8Key(String(decoding: member.key, as: UTF8.self)))
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }

    var text: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}

extension JSONSample {
    /// Returns a value of up to `depth` levels, with many numbers and characters that are edge cases for codecs.
    static func random(depth: Int, using generator: inout SeededGenerator) -> JSONSample {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &generator) {
        case 0: return .null
        case 1: return .boolean(.random(using: &generator))
        case 2: return .integer(randomInteger(using: &generator))
        case 3: return .double(randomDouble(using: &generator).bitPattern)
        case 4, 5: return .string(randomString(using: &generator))
        case 6, 7:
            let count = Int.random(in: 0..<5, using: &generator)
            return .array((0..<count).map { _ in random(depth: depth - 1, using: &generator) })
        default:
            // Up to 12 members, to cover every branch of duplicate detection.
            var keys = Set<[UInt8]>()
            for _ in 0..<Int.random(in: 0..<13, using: &generator) { keys.insert(randomString(using: &generator)) }
            var ordered = keys.sorted { $0.lexicographicallyPrecedes($1) }
            if generator.chance(50) { ordered.shuffle(using: &generator) }
            return .object(ordered.map { Member(key: $0, value: random(depth: depth - 1, using: &generator)) })
        }
    }

    private static func randomInteger(using generator: inout SeededGenerator) -> Int64 {
        let edges: [Int64] = [0, -1, 9_007_199_254_740_993, .min, .min + 1, .max, .max - 1]
        if generator.chance(30) { return edges.randomElement(using: &generator) ?? 0 }
        return Int64(truncatingIfNeeded: generator.next()) >> Int64.random(in: 0..<64, using: &generator)
    }

    private static func randomDouble(using generator: inout SeededGenerator) -> Double {
        let edges = [
            0, -0.0, 1, -1, 0.1, 1e300, -1e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e15, 1e16,
            9_007_199_254_740_992,
        ]
        if generator.chance(30) { return edges.randomElement(using: &generator) ?? 0 }
        let value = Double(bitPattern: generator.next())
        return value.isFinite ? value : 1.5
    }

    private static func randomString(using generator: inout SeededGenerator) -> [UInt8] {
        let edgeCases: [Unicode.Scalar] = [
            "\"", "\\", "/", "\0", "\u{8}", "\u{c}", "\n", "\r", "\t", "\u{1f}", "\u{7f}", "\u{80}", "\u{301}", "\u{e9}",
            "\u{2028}",
            "\u{2029}", "\u{d7ff}", "\u{e000}", "\u{feff}", "\u{fffd}", "\u{ffff}", "\u{10000}", "\u{1f9a6}", "\u{10ffff}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<20, using: &generator) {
            let letter = Unicode.Scalar(UInt8.random(in: 0x20..<0x7f, using: &generator))
            text.append(generator.chance(30) ? edgeCases.randomElement(using: &generator) ?? letter : letter)
        }
        return Array(String(text).utf8)
    }
}
