import DocumentModel
import Testing
import UTF8Text

/// A damaged file, the expected location, and a part of the expected message.
struct DamageCase: CustomTestStringConvertible, Sendable {
    let lines: [String]
    let line: Int
    let column: Int
    let field: String?
    let text: String

    init(_ lines: String..., at line: Int, _ column: Int, field: String? = nil, _ text: String) {
        self.lines = lines
        self.line = line
        self.column = column
        self.field = field
        self.text = text
    }

    var bytes: [UInt8] { Array(lines.joined(separator: "\n").utf8) }
    var testDescription: String { lines.joined(separator: " ") }
}

private let times = #""createTime":"2014-09-09T08:00:47Z","updateTime":"2014-09-09T08:00:47Z""#
private let metadata = "\"$document\":{\(times)}"

@Suite("Damaged document files")
struct DocumentFileDamageTests {
    private func error(of bytes: [UInt8], id: String? = "x") throws -> StatusError {
        let collection = try CollectionPath("books")
        let id = try id.map { try DocumentPath.ID($0) }
        return try #require(throws: StatusError.self) {
            try DocumentFile.decodeEncoded(bytes, in: collection, id: id, file: "documents/books/x.json")
        }
    }

    @Test(
        arguments: [
            DamageCase("", at: 1, 1, "unexpected end of JSON"),
            DamageCase("{", "\"a\": 1,", "", at: 3, 1, "unexpected end of JSON"),
            DamageCase("{\"a\": 1,}", at: 1, 9, "a key"),
            DamageCase("{", "  \"a\": 1,", "  \"a\": 2", "}", at: 3, 3, "duplicate key \"a\""),
            DamageCase("\u{feff}{}", at: 1, 1, "byte order mark"),
            DamageCase("{\"a\": \"\\ud800\"}", at: 1, 8, "surrogate"),
            DamageCase("[]", at: 1, 1, "an object of fields and $document, found an array"),
            DamageCase("{", "  \"name\": \"a package\"", "}", at: 1, 1, "Expected a member $document"),
            DamageCase(
                "{",
                "  \"name\": \"a package\"",
                "}",
                at: 1,
                1,
                "add \"$document\": {\"createTime\": \"2024-01-31T12:00:00Z\""
            ),
            DamageCase("{\"$document\": null}", at: 1, 15, "as in \"$document\": {"),
            DamageCase("{\"$document\": {}}", at: 1, 15, "the member createTime in $document"),
            DamageCase(#"{"$document": {"createTime":"2014-09-09T08:00:47Z"}}"#, at: 1, 15, "the member updateTime in $document"),
            DamageCase(#"{"$document": {"createTime":1,"updateTime":2}}"#, at: 1, 29, "a string in RFC 3339 format"),
            DamageCase(#"{"$document": {"createTime":"today","updateTime":"x"}}"#, at: 1, 29, "RFC 3339"),
            DamageCase(
                #"{"$document": {"createTime":"2014-09-09T08:00:47Z","updateTime":"2014-09-09T08:00:46Z"}}"#,
                at: 1,
                15,
                "earlier"
            ),
            DamageCase("{\"$document\": {\(times),", "  \"etag\": 3}}", at: 2, 11, "found \"etag\""),
            DamageCase("{\"$document\": {\(times),", "  \"id\": 3}}", at: 2, 9, "ID as a string, found 3"),
            DamageCase("{\"$document\": {\(times),", "  \"id\": \"a/b\"}}", at: 2, 9, "slash"),
            DamageCase(
                "{\"$document\": {\(times),",
                "  \"id\": \"y\"}}",
                at: 1,
                15,
                "the ID \"x\", but $document has the ID \"y\""
            ),
            DamageCase("{", "\"$price\": 1,", metadata, "}", at: 2, 11, "\"$map\": {…}"),
            DamageCase("{", "\"$timestamp\": \"2014-09-09T08:00:47Z\",", metadata, "}", at: 2, 15, "\"$map\": {…}"),
            DamageCase("{", "\"$map\": {\"a\": 1},", "\"b\": 2,", metadata, "}", at: 3, 6, "is outside $map"),
            DamageCase("{", "\"$map\": [],", metadata, "}", at: 2, 9, "an object after $map"),
            DamageCase("{", "\"a\": {\"$bytes\": \"A\"},", metadata, "}", at: 2, 17, field: "a", "base64"),
            DamageCase("{", "\"a\": [1,", " {\"b\": 1e999}],", metadata, "}", at: 3, 8, field: "a[1].b", "a double"),
            DamageCase("{", "\"a\": [1,", " [2]],", metadata, "}", at: 3, 2, field: "a[1]", "array"),
            DamageCase(
                "{",
                "\"a b\": {\"$map\": {",
                "\"$c\": [{\"__d__\": 1}]}},",
                metadata,
                "}",
                at: 3,
                18,
                field: "`a b`.`$c`[0].__d__",
                "reserved"
            ),
            DamageCase("{", "\"$map\": {\"$a\":", " {\"\": 1}},", metadata, "}", at: 3, 7, field: "`$a`.``", "name"),
            DamageCase(
                "{",
                "\"$map\": {\"$map\":",
                " {\"x\": [",
                "[1]]}},",
                metadata,
                "}",
                at: 4,
                1,
                field: "`$map`.x[0]",
                "array"
            ),
        ]
    )
    func `Damage is reported as data loss with file, line and column`(damage: DamageCase) throws {
        let error = try error(of: damage.bytes)
        #expect(error.code == .dataLoss)
        #expect(error.path == "books/x")
        #expect(error.file == StatusError.FileLocation(path: "documents/books/x.json", line: damage.line, column: damage.column))
        #expect(error.field == damage.field)
        #expect(error.message.contains(damage.text), "\(error.message)")
    }

    @Test
    func `A file with a shortened name must have the ID`() throws {
        let error = try error(of: Array("{\n\(metadata)}".utf8), id: nil)
        #expect(error.path == "books")
        #expect(error.file?.line == 2)
        #expect(error.message.contains("doesn't contain the document ID"))
    }

    @Test
    func `A document over 1 MiB is reported at the start of the file`() throws {
        let half = String(repeating: "x", count: 600_000)
        let error = try error(of: Array("{\"a\":\"\(half)\",\"b\":\"\(half)\",\(metadata)}".utf8))
        #expect(error.file == StatusError.FileLocation(path: "documents/books/x.json", line: 1, column: 1))
        #expect(error.field == nil)
    }

    @Test
    func `A truncated file is reported as damaged`() throws {
        let whole = try DocumentFile.encode(
            DocumentFileFormatterTests.document(["a": .array([.string("é"), .double(-0.5)])]),
            storesID: false
        )
        let end = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
        for length in 0...end {
            #expect(try error(of: Array(whole[..<length])).code == .dataLoss)
        }
    }
}
