import DocumentModel
import HearthAPI
import HearthWire
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("JSON of writes")
struct WriteJSONTests {
    private static let path = "books/hitchhiker"

    /// Writes commits as clients do, and returns the writes that the server reads.
    private func roundTrip(_ writes: [Write]) throws -> [Write] {
        let text = written { writer in
            writer.beginObject()
            writer.array(CommitKeys.writes, of: writes) { $0.write(to: &$1) }
            writer.endObject()
        }
        let arguments = try Arguments(object: parsed(text), at: .params, declared: CommitWrites.parameters)
        return try CommitWrites.params(from: arguments).writes
    }

    private static func writes() throws -> [Write] {
        let path = try DocumentPath(path)
        let odd = try FieldPath(segments: ["a.b", "`\\", "é"])
        let transforms = [
            FieldTransform(field: try FieldPath("readers"), operation: .increment(.integer(1))),
            FieldTransform(field: try FieldPath("high"), operation: .maximum(.double(1.5))),
            FieldTransform(field: try FieldPath("low"), operation: .minimum(.double(-0.0))),
            FieldTransform(field: try FieldPath("read"), operation: .serverTimestamp),
            FieldTransform(field: try FieldPath("tags"), operation: .arrayUnion([.string("fun"), .null])),
            FieldTransform(field: odd, operation: .arrayRemove([.map(["x": .integer(1)])])),
        ]
        return [
            try .set(path, ["title": .string("a"), "bytes": .bytes([0, 255])]),
            try .set(path, ["a": .map(["b": .integer(1), "c": .null])], merge: .all),
            try .set(path, ["a": .integer(1), "b": .integer(2)], merge: .fields([try FieldPath("a")])),
            try .set(path, [:], transforms: transforms),
            try .set(path, [:], precondition: .exists(false)),
            try .update(path, [(odd, .double(.infinity)), (try FieldPath("x.y"), .vector([1, 2]))]),
            try .update(path, [], delete: [odd], transforms: transforms),
            try .update(path, [(odd, .null)], precondition: .updateTime(try Timestamp(rfc3339: "2024-02-29T12:00:00Z"))),
            .delete(path),
            .delete(path, precondition: .exists(true)),
            Write(path: path, operation: .verify, precondition: .exists(false)),
        ]
    }

    @Test(arguments: try writes().indices)
    func `A write of a client is read by the server`(index: Int) throws {
        let write = try Self.writes()[index]
        let read = try #require(roundTrip([write]).first)
        #expect(read.path == write.path)
        #expect(read.transforms == write.transforms)
        #expect(read.precondition == write.precondition)
        switch (read.operation, write.operation) {
        // The order of a mask has no effect.
        case (.patch(let fields, let mask), .patch(let expected, let expectedMask)):
            #expect(fields == expected)
            #expect(Set(mask) == Set(expectedMask))
        default: #expect(read.operation == write.operation)
        }
    }

    @Test func `Writes have the documented JSON`() throws {
        let path = try DocumentPath(Self.path)
        let tags = FieldTransform(field: try FieldPath("tags"), operation: .arrayUnion([.string("fun")]))
        let writes: [Write] = [
            try .set(path, ["n": .integer(1)], transforms: [tags], precondition: .exists(true)),
            try .update(path, [(try FieldPath("a.b"), .integer(2))], delete: [try FieldPath("c")]),
            .delete(path),
            Write(path: path, operation: .verify, precondition: .exists(true)),
        ]
        #expect(
            writes.map { write in written { write.write(to: &$0) } } == [
                #"{"set":{"path":"books/hitchhiker","fields":{"n":1},"transforms":[{"field":"tags","arrayUnion":["fun"]}],"#
                    + #""precondition":{"exists":true}}}"#,
                #"{"update":{"path":"books/hitchhiker","fields":{"a.b":2},"delete":["c"],"precondition":{"exists":true}}}"#,
                #"{"delete":{"path":"books/hitchhiker"}}"#,
                #"{"verify":{"path":"books/hitchhiker","precondition":{"exists":true}}}"#,
            ]
        )
    }

    @Test(arguments: ["", #","seq":7,"epoch":"e","replayed":true"#])
    func `The result of a commit is read and written`(others: String) throws {
        let text =
            #"{"commitTime":"2024-02-29T12:00:00.000000Z","writeResults":[{"updateTime":"2024-02-29T12:00:00.000000Z","#
            + #""transformResults":[1,{"$double":"NaN"},null]},{}]\#(others)}"#
        let response = try CommitResponse(json: parsed(text))
        #expect(response.writeResults.map(\.transformResults) == [[.integer(1), .double(.nan), .null], []])
        #expect(response.writeResults.last?.updateTime == nil)
        #expect(written { response.write(to: &$0) } == text)
    }

    @Test(arguments: ["{}", #"{"commitTime":"2024-02-29T12:00:00Z"}"#, #"{"commitTime":"","writeResults":[]}"#])
    func `An incomplete result of a commit is rejected`(text: String) throws {
        #expect(throws: StatusError.self) { try CommitResponse(json: parsed(text)) }
    }
}
