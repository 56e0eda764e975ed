import DocumentModel
import Testing
import UTF8Text

@Suite("Document size")
struct DocumentSizeTests {
    @Test
    func `The size is 147 bytes in Firestore's example`() throws {
        let fields: MapValue = [
            "type": .string("Personal"), "done": .boolean(false), "priority": .integer(1),
            "description": .string("Learn Cloud Firestore"),
        ]
        #expect(Document.size(of: fields, at: try DocumentPath("users/jeff/tasks/my_task_id")) == 147)
    }

    @Test(
        arguments: [
            ("a/b", 2 + 2), ("books/hitchhiker", 6 + 11), ("a/__id7__", 2 + 8),
            ("a/__id-9223372036854775808__/b/c", 2 + 8 + 2 + 2),
            ("é/é", 3 + 3),
        ]
    )
    func `A name counts its segments, 8 for a numeric ID, and 16 more`(path: String, segmentBytes: Int) throws {
        #expect(Document.size(of: [:], at: try DocumentPath(path)) == segmentBytes + 16 + 32)
    }

    @Test(
        arguments: [
            (Value.null, 1), (.boolean(true), 1), (.integer(.max), 8), (.double(.nan), 8), (.timestamp(.minimum), 8),
            (.string(""), 1),
            (.string("é🐵"), 7), (.bytes([1, 2, 3]), 3), (.vector([]), 0), (.vector([1, 2, 3]), 24), (.array([]), 0),
            (.array([.null, .integer(1), .string("a")]), 11), (.map([:]), 1), (.array([.map([:]), .map([:])]), 2),
            (.map(["a": .null, "bc": .integer(1)]), 3 + 11),
            (.array([.map(["a": .array([.boolean(true)])])]), 3),
        ]
    )
    func `A value counts by its type`(value: Value, size: Int) throws {
        #expect(Document.size(of: ["f": value], at: try DocumentPath("a/b")) == 4 + 16 + 32 + 2 + size)
    }

    @Test
    func `A geo point counts 16, and a reference counts its name`() throws {
        let fields: MapValue = [
            "g": .geoPoint(try GeoPoint(validatingLatitude: 1, longitude: 2)), "r": .reference(try DocumentPath("books/__id7__")),
        ]
        #expect(Document.size(of: fields, at: try DocumentPath("a/b")) == 4 + 16 + 32 + 2 + 16 + 2 + (6 + 8 + 16))
    }
}
