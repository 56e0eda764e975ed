import DocumentModel
import StrictJSON
import Testing

@Suite("Preconditions of a write")
struct WritePreconditionTests {
    private typealias Fixture = WriteFixtures

    private static let kinds: [Write.Operation] = [.replace(["a": .integer(1)]), .patch([:], mask: []), .delete]

    private func refusal(_ operation: Write.Operation, _ precondition: Precondition, on document: Document?) -> StatusError? {
        do throws(StatusError) {
            _ = try Write(path: Fixture.path, operation: operation, precondition: precondition).applied(
                to: document,
                at: Fixture.now
            )
            return nil
        } catch {
            return error
        }
    }

    @Test("exists: true needs a document", arguments: kinds)
    func exists(operation: Write.Operation) throws {
        let error = try #require(refusal(operation, .exists(true), on: nil))
        #expect(error.code == .notFound)
        #expect(error.message == "No document to update: books/hitchhiker")
        #expect(error.path == "books/hitchhiker")
        #expect(refusal(operation, .exists(true), on: try Fixture.document("{}")) == nil)
    }

    @Test("exists: false needs that there is none", arguments: kinds)
    func existsNot(operation: Write.Operation) throws {
        let error = try #require(try refusal(operation, .exists(false), on: Fixture.document("{}")))
        #expect(error.code == .alreadyExists)
        #expect(error.message == "Document already exists: books/hitchhiker")
        #expect(error.path == "books/hitchhiker")
        #expect(refusal(operation, .exists(false), on: nil) == nil)
    }

    @Test("An update time must be that of the document", arguments: kinds)
    func updateTime(operation: Write.Operation) throws {
        let document = try Fixture.document("{}")
        #expect(refusal(operation, .updateTime(Fixture.updated), on: document) == nil)
        for (time, code) in [
            (Fixture.second(199), .failedPrecondition),
            (Fixture.created, .failedPrecondition),
            (Fixture.now, .failedPrecondition),
            (Fixture.second(301), .invalidArgument),
        ] as [(Timestamp, StatusCode)] {
            let error = try #require(refusal(operation, .updateTime(time), on: document))
            #expect(error.code == code)
            #expect(error.path == "books/hitchhiker")
        }
    }

    @Test("An update time needs a document", arguments: kinds)
    func updateTimeOfMissing(operation: Write.Operation) {
        #expect(refusal(operation, .updateTime(Fixture.updated), on: nil)?.code == .failedPrecondition)
        #expect(refusal(operation, .updateTime(Fixture.second(301)), on: nil)?.code == .invalidArgument)
    }

    @Test("No precondition lets any write happen, also the delete of what is missing", arguments: kinds)
    func none(operation: Write.Operation) throws {
        #expect(refusal(operation, .none, on: nil) == nil)
        #expect(try refusal(operation, .none, on: Fixture.document("{}")) == nil)
    }

    @Test("The precondition comes before anything else that may be wrong")
    func first() throws {
        let write = Write(
            path: Fixture.path,
            operation: .replace(["__bad__": .null]),
            transforms: [FieldTransform(field: try FieldPath("a"), operation: .increment(.null))],
            precondition: .exists(true)
        )
        let error = #expect(throws: StatusError.self) { try write.applied(to: nil, at: Fixture.now) }
        #expect(error?.code == .notFound)
    }
}
