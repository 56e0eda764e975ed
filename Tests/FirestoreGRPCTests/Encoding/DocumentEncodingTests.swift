import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import QueryTestSupport
import SwiftProtobuf
import TestSupport
import Testing
import UTF8Text

@testable import FirestoreGRPC
@testable import HearthAPI

/// Documents written from their stored bytes, compared with the generated messages.
@Suite("Documents in protobuf messages")
struct DocumentEncodingTests {
    private static let database = DatabaseName(.standard)

    private static func document(_ fields: MapValue, updateTime: Int64 = 1) throws -> EncodedDocument {
        EncodedDocument(
            Document(
                path: try DocumentPath("c/é"),
                fields: fields,
                createTime: try Timestamp(microseconds: -1),
                updateTime: try Timestamp(microseconds: updateTime)
            )
        )
    }

    private func expectSameMessage(_ document: EncodedDocument) throws {
        let expected: [UInt8] = try ProtoDocument(document, in: Self.database).serializedBytes()
        let decoded = try ProtoDocument(serializedBytes: try document.protobuf(in: Self.database))
        // Not the messages: NaN differs from itself.
        let isSame = try decoded.serializedBytes() == expected
        #expect(isSame, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed): \(document.path)")
    }

    @Test
    func `Every kind of value is written as the generated messages write it`() throws {
        let vector = Value.vector([1, -2.5])
        let fields: MapValue = [
            "null": .null, "true": .boolean(true), "false": .boolean(false), "zero": .integer(0), "min": .integer(.min),
            "max": .integer(.max), "negative zero": .double(-0.0), "infinity": .double(-.infinity), "double": .double(1e300),
            "empty": .string(""), "escaped \"\n\u{0}\u{7F}": .string("\\\"\n\u{0}\u{7F}/🐵"), "bytes": .bytes([0, 255]),
            "time": .timestamp(.minimum), "reference": .reference(try DocumentPath("a/\u{e9}/b/e\u{301}")),
            "point": .geoPoint(try GeoPoint(validatingLatitude: 0, longitude: -180)), "array": .array([.array([]), .null]),
            "map": .map(["inner": .map([:])]), "vector": vector, "vectors": .array([.map(["v": vector])]),
            "dollar": .map(["$map": .integer(1), "$timestamp": .string("x")]),
        ]
        try expectSameMessage(try Self.document(fields))
        try expectSameMessage(try Self.document([:]))
        try expectSameMessage(try Self.document(["$bytes": .string("AQI="), "a": .map(["$": .null])]))
        try expectSameMessage(try Self.document(["$map": .map(["$map": .integer(1)])]))
    }

    @Test(arguments: [0, 1, 126, 127, 128, 129, 16_383, 16_384, 16_385, 300_000])
    func `Lengths of any size are written`(count: Int) throws {
        let text = Value.string(String(repeating: "x", count: count))
        try expectSameMessage(try Self.document(["a": .map(["b": .array([text, text])]), "c": text]))
    }

    @Test
    func `Random documents are written as the generated messages write them`() throws {
        var documents = RandomDocuments(generator: SeededGenerator(seed: SeededGenerator.currentSeed))
        for document in documents.documents(400) { try expectSameMessage(EncodedDocument(document)) }
    }

    @Test(arguments: [#"{"a":1"#, #"{"a":?}"#, #"{"a":"x\"#, String(repeating: "[", count: 100_000), "[1]", ""])
    func `Damaged stored fields are data loss`(json: String) throws {
        try expectDataLoss(Array(json.utf8))
    }

    @Test
    func `Stored text that is not UTF-8 is data loss`() throws {
        try expectDataLoss(Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
    }

    private func expectDataLoss(_ fields: [UInt8]) throws {
        let path = try DocumentPath("c/d")
        let document = EncodedDocument(path: path, createTime: .minimum, updateTime: .minimum, fieldsJSON: fields)
        let error = #expect(throws: StatusError.self) { try document.protobuf(in: Self.database) }
        #expect(error?.code == .dataLoss)
    }

    @Test
    func `Listeners get the document as of its commit`() throws {
        let cache = EncodedDocumentCache()
        var message: [UInt8] = []
        for time in [1, 2, 2, 1] as [Int64] {
            for fields in [["a": .integer(time)], [:]] as [MapValue] {
                let document = try Self.document(fields, updateTime: time)
                message = try cache.message(for: document, in: Self.database)
                #expect(message == (try document.protobuf(in: Self.database)))
            }
        }
        #expect(cache.count == 2)
        let other = DatabaseName(try DatabaseID(project: "other", database: "x"))
        let document = try Self.document([:])
        #expect(try cache.message(for: document, in: other) != message)
        for number in 0..<2 * EncodedDocumentCache.maximumCount {
            let path = try DocumentPath("c/\(number)")
            let document = EncodedDocument(Document(path: path, fields: [:], createTime: .minimum, updateTime: .minimum))
            for _ in 0..<2 { #expect(try cache.message(for: document, in: other) == (try document.protobuf(in: other))) }
        }
        #expect(cache.count == EncodedDocumentCache.maximumCount)
    }

    @Test
    func `The size of a target is that of its message`() throws {
        for message in [ProtoTarget.documents("books/a", "books/b", id: 2), .query(.query("books"), id: 4)] {
            let size = try message.serializedData().count
            #expect(try ListenTarget(message, in: DatabaseName(databaseName)).byteCount == size)
        }
    }

    @Test
    func `Documents of commits are encoded once, and those of long initial states are not retained`() throws {
        let path = try DocumentPath("c/a")
        let token = ResumeToken(target: .document(path), epoch: "e", sequence: SequenceNumber(7), time: .minimum)
        let position = ListenPosition(readTime: .minimum, token: token)
        let end = [ListenMessage.current(target: 2, position), .snapshot(position, isOfAllTargets: true)]
        /// Returns the number of documents that are shared of messages with a number of documents.
        func sharedCount(_ count: Int, _ end: [ListenMessage]) throws -> Int {
            let cache = EncodedDocumentCache()
            let messages = try (0..<count).map { number in
                let path = try DocumentPath("c/\(number)")
                let document = EncodedDocument(Document(path: path, fields: [:], createTime: .minimum, updateTime: .minimum))
                return ListenMessage.changed(document, targets: [2], removedTargets: [])
            }
            let responses = ListenResponse.responses(to: messages + end, in: Self.database, sharing: cache)
            #expect(responses.count == count + end.count)
            for response in responses { _ = try response.encoded() }
            return cache.count
        }
        #expect(try sharedCount(100, [end[1]]) == 100)
        #expect(try sharedCount(2 * EncodedDocumentCache.maximumCount, [end[1]]) == EncodedDocumentCache.maximumCount)
        #expect(try sharedCount(10, end) == 10)
        for end in [[], end] { #expect(try sharedCount(100, end) == 0) }
    }

    @Test
    func `Responses of Listen are written as the generated messages write them`() throws {
        let document = try Self.document(["a": .integer(1)])
        let token = ResumeToken(
            target: .document(document.path),
            epoch: "e",
            sequence: SequenceNumber(7),
            time: try Timestamp(microseconds: 5)
        )
        let time = try Timestamp(microseconds: 1_000_001)
        let messages: [ListenResponse] = [
            .changed(document, targets: [2, 300], removedTargets: [-1]), .changed(document, targets: [], removedTargets: [4]),
            .snapshot(ListenPosition(readTime: time, token: token), isOfAllTargets: true),
            .snapshot(ListenPosition(readTime: time, token: token), isOfAllTargets: false),
        ].compactMap { ListenResponse(message: $0, database: Self.database, documents: EncodedDocumentCache()) }
        for message in messages {
            let expected = try ProtoListenResponse(message.message, in: Self.database)
            #expect(try ProtoListenResponse(serializedBytes: message.encoded()) == expected)
        }
    }
}
