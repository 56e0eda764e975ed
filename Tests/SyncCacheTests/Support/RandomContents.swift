import DocumentModel
import SyncEngine
import TestSupport
import UTF8Text

/// Random values, writes and documents of all kinds.
struct RandomContents {
    var random: SeededGenerator

    static let paths: [DocumentPath] = [
        "c/a", "c/b", "c/é", "c/__id7__", "c/a/sub/x", "c/b/sub/y", "c/b/sub/z", "d/a", "d/a/sub/x", "sub/x",
    ].map { path($0) }

    static func path(_ string: String) -> DocumentPath {
        do throws(StatusError) {
            return try DocumentPath(string)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    mutating func path() -> DocumentPath {
        Self.paths.randomElement(using: &random) ?? Self.path("c/a")
    }

    mutating func paths(upTo count: Int = 4) -> Set<DocumentPath> {
        Set((0..<Int.random(in: 0...count, using: &random)).map { _ in path() })
    }

    mutating func value(depth: Int = 0) throws -> Value {
        let doubles: [Double] = [
            0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, -1e300,
        ]
        let integers: [Int64] = [0, -1, .min, .max, 1 << 53 + 1]
        let strings = ["", "a", "é", "e\u{301}", "\u{0}\u{1}\"\\", "🦊", "$double"]
        switch Int.random(in: 0..<(depth < 3 ? 12 : 10), using: &random) {
        case 0: return .null
        case 1: return .boolean(random.chance(50))
        case 2: return .integer(integers.randomElement(using: &random) ?? 0)
        case 3: return .double(doubles.randomElement(using: &random) ?? 0)
        case 4: return .timestamp([.minimum, .maximum, try time()].randomElement(using: &random) ?? .minimum)
        case 5: return .string(strings.randomElement(using: &random) ?? "")
        case 6: return .bytes((0..<Int.random(in: 0..<5, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        case 7: return .reference(path())
        case 8: return .geoPoint(try GeoPoint(validatingLatitude: -0.0, longitude: 180))
        case 9: return .vector(doubles.shuffled(using: &random))
        case 10:
            let values = try (0..<Int.random(in: 0..<3, using: &random)).map { _ in try value(depth: depth + 1) }
            // Arrays in arrays are not values of documents.
            return .array(values.filter { if case .array = $0 { false } else { true } })
        default: return .map(try fields(depth: depth + 1))
        }
    }

    mutating func fields(depth: Int = 0) throws -> MapValue {
        var fields = MapValue()
        for name in ["a", "b", "$map", "$x", "a.b", "`", "é", "e\u{301}"] where random.chance(25) {
            fields[UTF8Key(name)] = try value(depth: depth)
        }
        return fields
    }

    mutating func time() throws -> Timestamp {
        try Timestamp(microseconds: .random(in: -1_000_000...2_000_000_000_000_000, using: &random))
    }

    mutating func field() throws -> FieldPath {
        let segments: [UTF8Key] = ["a", "b", "$x", "a.b", "`\\`", "é"]
        let count = Int.random(in: 1...3, using: &random)
        return try FieldPath(segments: (0..<count).map { _ in segments.randomElement(using: &random) ?? "a" })
    }

    mutating func write() throws -> Write {
        let mask = try (0..<Int.random(in: 0...3, using: &random)).map { _ in try field() }
        let operation: Write.Operation =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .replace(try fields())
            case 1: .patch(try fields(), mask: mask)
            case 2: .delete
            default: .verify
            }
        let precondition: Precondition =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .none
            case 1: .exists(random.chance(50))
            default: .updateTime(try time())
            }
        let transforms = try (0..<Int.random(in: 0...2, using: &random)).map { _ in try transform() }
        return Write(path: path(), operation: operation, transforms: transforms, precondition: precondition)
    }

    private mutating func transform() throws -> FieldTransform {
        let number: Value = random.chance(50) ? .integer(.max) : .double(.nan)
        let operation: FieldTransform.Operation =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .serverTimestamp
            case 1: .increment(number)
            case 2: .maximum(number)
            case 3: .minimum(number)
            case 4: .arrayUnion([try value(depth: 2), .null])
            default: .arrayRemove([])
            }
        return FieldTransform(field: try field(), operation: operation)
    }

    mutating func document() throws -> RemoteDocument {
        let content: RemoteDocument.Content =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .missing
            case 1: .unknown
            default: .found(try fields(), createTime: random.chance(80) ? try time() : nil)
            }
        return RemoteDocument(
            path: path(),
            content: content,
            version: try time(),
            epoch: random.chance(50) ? "epoch" : nil,
            hasCommittedMutations: random.chance(30)
        )
    }

    mutating func overlay() throws -> Overlay {
        let content: Overlay.Content =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .set(try fields())
            case 1: .delete
            default: .patch(try fields(), mask: [try field(), try field()])
            }
        var pending: [FieldPath: PendingTimestamp] = [:]
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            pending[try field()] = PendingTimestamp(estimate: try time(), previous: random.chance(50) ? try value() : nil)
        }
        return Overlay(
            path: path(),
            content: content,
            pendingTimestamps: pending,
            batch: .random(in: 1...9, using: &random),
            requiresDocument: random.chance(50)
        )
    }
}
