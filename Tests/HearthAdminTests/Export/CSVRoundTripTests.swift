import DocumentModel
import TestSupport
import Testing
import UTF8Text

@testable import HearthAdmin

/// CSV preserves all values except top-level bytes, references and geo points.
@Suite("CSV round trip", .tags(.slow))
struct CSVRoundTripTests {
    /// Exports and imports documents; returns their fields as JSON by path.
    private func roundTrip(_ documents: [Document]) async throws -> [String: String] {
        var names: Set<UTF8Key> = []
        for document in documents { names.formUnion(document.fields.map(\.key)) }
        let writer = CSVExportWriter(
            columns: try names.sorted().map { try FieldPath(segments: [$0]) },
            hasEscapes: documents.contains { CSVExportWriter.needsEscapes($0.fields, at: $0.path, columns: nil) }
        )
        let table = writer.begin() + (try writer.write(documents.map { EncodedDocument($0) })) + writer.end()
        var reader = ImportReader(
            UploadedFileReader(try await .make(table, name: "t.csv")),
            name: "t.csv",
            options: ImportOptions(collection: try CollectionPath("t"))
        )
        var found: [String: String] = [:]
        var errors: [String] = []
        try await reader.read { result throws(StatusError) in
            switch result {
            case .success(let record): found[Self.key(record.path)] = Self.text(.map(record.fields))
            case .failure(let error): errors.append("\(error.position.line): \(error.error.message)")
            }
            return true
        }
        #expect(errors == [])
        return found
    }

    /// Returns a dictionary key that distinguishes canonically equivalent paths.
    private static func key(_ path: DocumentPath) -> String { Hexadecimal.encode(path.string.utf8) }

    private static func text(_ value: Value) -> String { String(decoding: value.json, as: UTF8.self) }

    private static let pieces = [
        " ", "\t", "\n", "\r\n", "\r", "\u{200B}", "\u{FEFF}", "\u{3000}", "\u{A0}", "\u{2028}", "=", "+", "-", "@", "'", "\"",
        "\"\"", ",", ";",
        "[", "]", "{", "}", "[1]", "{\"a\":1}", "null", "true", "5", "-0.0", "NaN", "2014-09-09T08:00:47Z", "é", "e\u{301}",
        "\u{FF1D}", "#", "x",
        "😀", "\u{202E}", "\\", "`", ".", "a.b",
    ]

    private static func text(_ random: inout SeededGenerator, atLeast least: Int = 0) -> String {
        (0..<Int.random(in: least...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> Value {
        switch Int.random(in: 0..<(depth < 3 ? 11 : 7), using: &random) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &random))
        case 2: return .integer([0, -1, 42, .max, .min].randomElement(using: &random) ?? 0)
        case 3: return .double([0, -0.0, 1, 1e300, -2.5e-9, .nan, .infinity, -.infinity, 0.1].randomElement(using: &random) ?? 0)
        case 4:
            return .timestamp(
                (try? Timestamp(microseconds: Int64.random(in: -1_000_000_000_000...4_000_000_000_000_000, using: &random)))
                    ?? .minimum
            )
        case 5: return .vector((0..<Int.random(in: 0..<4, using: &random)).map { _ in Double.random(in: -1...1, using: &random) })
        case 6, 7: return .string(text(&random))
        case 8:
            // Maps are JSON, which preserves them.
            return .map(["b": .bytes([1, 255]), "r": (try? .reference(DocumentPath("a/b"))) ?? .null])
        case 9:
            return .array(
                (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                    let element = value(&random, depth: depth + 1)
                    if case .array = element { return .null }
                    return element
                }
            )
        default: return .map(fields(&random, depth: depth + 1))
        }
    }

    private static func fields(_ random: inout SeededGenerator, depth: Int = 0) -> MapValue {
        var fields = MapValue()
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            fields[UTF8Key(text(&random, atLeast: 1))] = value(&random, depth: depth)
        }
        return fields
    }

    @Test
    func `Random documents are unchanged after export and import`() async throws {
        var random = SeededGenerator()
        for round in 0..<60 {
            var documents: [DocumentPath: Document] = [:]
            for _ in 0..<8 {
                let name = Self.text(&random, atLeast: 1)
                guard let id = try? DocumentPath.ID(name) else { continue }
                let path = try CollectionPath("t").document(id)
                documents[path] = Document(path: path, fields: Self.fields(&random), createTime: .minimum, updateTime: .minimum)
            }
            var expected: [String: String] = [:]
            for (path, document) in documents { expected[Self.key(path)] = Self.text(.map(document.fields)) }
            let found = try await roundTrip(Array(documents.values))
            #expect(found == expected, "seed \(random.seed), round \(round)")
        }
    }

    @Test(arguments: pieces)
    func `Strings that look like JSON, formulas or other types stay strings`(text: String) async throws {
        let path = try DocumentPath("t/1")
        let fields: MapValue = ["text": .string(text), "twice": .string(text + text), "list": .array([.string(text)])]
        let document = Document(path: path, fields: fields, createTime: .minimum, updateTime: .minimum)
        #expect(try await roundTrip([document]) == [Self.key(path): Self.text(.map(fields))])
    }
}
