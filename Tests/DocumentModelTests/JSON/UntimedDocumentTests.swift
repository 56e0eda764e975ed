import Testing
import UTF8Text

@testable import DocumentModel

@Suite("Document files without times")
struct UntimedDocumentTests {
    private static func text(_ file: String) throws -> String {
        String(decoding: try UntimedDocument(Array(file.utf8)).text, as: UTF8.self)
    }

    private static let times = #""createTime": "2024-01-01T00:00:00Z", "updateTime": "2024-01-02T00:00:00Z""#

    @Test(arguments: [
        (#"{"b": 1.0, "a": [1,2], "$document": {\#(times)}}"#, "{\n  \"a\": [1, 2],\n  \"b\": 1.0\n}\n"),
        (#"{"b":1}"#, "{\n  \"b\": 1\n}\n"),
        ("{}", "{}\n"),
        (#"{"$document": {\#(times)}}"#, "{}\n"),
        (#"{"$document": {}}"#, "{}\n"),
        (
            #"{"a": {}, "$document": {"id": "long", \#(times)}}"#,
            "{\n  \"a\": {},\n  \"$document\": {\n    \"id\": \"long\"\n  }\n}\n"
        ),
        (#"{"$document": {"id": "long"}}"#, "{\n  \"$document\": {\n    \"id\": \"long\"\n  }\n}\n"),
        (#"{"$map": {"$b": 1, "a": 2}, "$document": {\#(times)}}"#, "{\n  \"$map\": {\n    \"$b\": 1,\n    \"a\": 2\n  }\n}\n"),
    ])
    func `Keep the fields in Hearth's layout, and an ID that the file states`(file: String, text: String) throws {
        #expect(try Self.text(file) == text)
        #expect(try Self.text(text) == text)
    }

    @Test func `With a time, they are the file that the store writes, but for its times`() throws {
        let fields: MapValue = ["a": .map(["$b": .integer(1)]), "c": .string("é")]
        let document = try DocumentFileFormatterTests.document(fields)
        for storesID in [false, true] {
            let file = DocumentFile.encode(document, storesID: storesID)
            let timed = try UntimedDocument(UntimedDocument(file).text).text(at: document.createTime)
            #expect(timed.count == file.count)
            let id = storesID ? nil : document.path.id
            let read = try DocumentFile.decode(timed, in: document.path.collection, id: id, file: "")
            #expect(read.fields == fields)
            #expect((read.createTime, read.updateTime) == (document.createTime, document.createTime))
        }
    }

    @Test(arguments: [
        "", "[]", "1", #"{"a": 1,}"#, #"{"$timestamp": "2024-01-01T00:00:00Z"}"#, #"{"a": {"$none": 1}}"#, #"{"$document": 1}"#,
        #"{"$document": {"updateTime": "2024-01-01T00:00:00Z"}}"#, #"{"$document": {"author": "x"}}"#, #"{"$map": {}, "a": 1}"#,
        #"{"$document": {"id": 1}}"#,
    ])
    func `Other text is rejected`(text: String) {
        #expect(throws: StatusError.self) { try UntimedDocument(Array(text.utf8)) }
    }
}
