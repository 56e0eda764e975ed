import DocumentModel
import Testing

@testable import HearthCLI

@Suite("Merges of document files")
struct DocumentMergeTests {
    private static func merge(_ base: String, _ ours: String, _ theirs: String) throws -> DocumentMerge {
        try DocumentMerge(ours: Array(ours.utf8), theirs: Array(theirs.utf8), base: Array(base.utf8), markerLength: 7)
    }

    /// Returns the text with one side of each conflict.
    private static func resolved(_ merge: DocumentMerge, taking side: Int) throws -> MapValue {
        var (text, current): (String, Int?) = ("", nil)
        for line in String(decoding: merge.text, as: UTF8.self).split(separator: "\n") {
            switch line {
            case "<<<<<<< ours": current = 0
            case "=======": current = 1
            case ">>>>>>> theirs": current = nil
            default: if current == nil || current == side { text += line + "\n" }
            }
        }
        return try UntimedDocument(Array(text.utf8)).fields
    }

    @Test func `Changes of different fields are both kept, whatever the layout and the times`() throws {
        let merge = try Self.merge(
            #"{"a": 1, "m": {"x": 1, "y": 1}}"#,
            #"{"a": 2, "m": {"x": 1, "y": 2}, "$document": {"createTime": "2024-01-01T00:00:00Z", "updateTime": "2024-01-01T00:00:00Z"}}"#,
            "{\"m\": {\"x\": 3,\n \"y\": 1},\n\n \"a\": 1, \"n\": null}"
        )
        #expect(
            String(decoding: merge.text, as: UTF8.self) == "{\n  \"a\": 2,\n  \"m\": {\"x\": 3, \"y\": 2},\n  \"n\": null\n}\n"
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `Only a field that both have changed is between markers`() throws {
        let merge = try Self.merge(
            #"{"a": 1, "b": 1, "c": 1}"#,
            #"{"a": 2, "b": 2, "c": 1}"#,
            #"{"a": 1, "b": 3, "c": 3}"#
        )
        let expected = """
            {
              "a": 2,
            <<<<<<< ours
              "b": 2,
            =======
              "b": 3,
            >>>>>>> theirs
              "c": 3
            }

            """
        #expect(String(decoding: merge.text, as: UTF8.self) == expected)
        #expect(merge.conflicts.map(\.description) == ["b"])
    }

    @Test func `Markers are inside of a long value, where its lines differ`() throws {
        let long = String(repeating: "x", count: 60)
        let merge = try Self.merge(
            #"{"m": {"a": "\#(long)", "b": "\#(long)", "c": 1}}"#,
            #"{"m": {"a": "\#(long)", "b": "\#(long)", "c": 2}}"#,
            #"{"m": {"a": "\#(long)", "b": "\#(long)", "c": 3}}"#
        )
        let lines = String(decoding: merge.text, as: UTF8.self).split(separator: "\n")
        #expect(lines[4...8] == ["<<<<<<< ours", "    \"c\": 2", "=======", "    \"c\": 3", ">>>>>>> theirs"])
        #expect(merge.conflicts.map(\.description) == ["m.c"])
    }

    @Test(arguments: [
        // The last field: the line before has a comma, or not.
        (#"{"a": 1, "b": 1}"#, #"{"a": 1}"#, #"{"a": 1, "b": 2}"#),
        (#"{"a": 1, "b": 1}"#, #"{"a": 1, "b": 2}"#, #"{"a": 1}"#),
        (#"{"a": 1}"#, #"{}"#, #"{"a": 2}"#),
        (#"{}"#, #"{"a": [1, 2], "b": 1, "c": 1}"#, #"{"a": [1], "b": 1, "c": {"x": 1}}"#),
        ("", #"{"a": 1, "z": {"y": 1}}"#, #"{"a": 2, "z": {"y": 2}}"#),
        (#"{"$map": {"$a": 1}}"#, #"{"$map": {"$a": 2}}"#, #"{"$map": {"$a": 3, "b": 1}}"#),
        (#"{"$map": {"$a": 1}}"#, #"{"$map": {"$a": 2}}"#, #"{}"#),
    ])
    func `Each side of a conflict is a document`(base: String, ours: String, theirs: String) throws {
        let merge = try Self.merge(base, ours, theirs)
        #expect(!merge.conflicts.isEmpty)
        let sides = try (UntimedDocument(Array(ours.utf8)).fields, UntimedDocument(Array(theirs.utf8)).fields)
        for path in merge.conflicts {
            #expect(try Self.resolved(merge, taking: 0)[path] == sides.0[path])
            #expect(try Self.resolved(merge, taking: 1)[path] == sides.1[path])
        }
    }

    @Test func `Files that are not documents are rejected`() {
        #expect(throws: StatusError.self) { try Self.merge("{}", "{", "{}") }
        #expect(throws: StatusError.self) { try Self.merge("[]", "{}", "{}") }
    }
}
