import DocumentModel
import Testing
import UTF8Text

@Suite("Preconditions")
struct PreconditionTests {
    private typealias Fixture = WriteFixtures

    private static let kinds: [Write.Operation] = [.replace(["a": .integer(1)]), .patch([:], mask: []), .delete, .verify]

    private func failure(_ operation: Write.Operation, _ precondition: Precondition, on document: Document?) -> StatusError? {
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

    @Test(arguments: kinds)
    func `exists: true requires an existing document`(operation: Write.Operation) throws {
        let error = try #require(failure(operation, .exists(true), on: nil))
        #expect(error.code == .notFound)
        #expect(error.message == "No document to update: books/hitchhiker")
        #expect(error.path == "books/hitchhiker")
        #expect(failure(operation, .exists(true), on: try Fixture.document("{}")) == nil)
    }

    @Test(arguments: kinds)
    func `exists: false requires a missing document`(operation: Write.Operation) throws {
        let error = try #require(try failure(operation, .exists(false), on: Fixture.document("{}")))
        #expect(error.code == .alreadyExists)
        #expect(error.message == "Document already exists: books/hitchhiker")
        #expect(error.path == "books/hitchhiker")
        #expect(failure(operation, .exists(false), on: nil) == nil)
    }

    @Test(arguments: kinds)
    func `An update time must match the document's`(operation: Write.Operation) throws {
        let document = try Fixture.document("{}")
        #expect(failure(operation, .updateTime(Fixture.updated), on: document) == nil)
        for (time, code) in [
            (Fixture.second(199), .failedPrecondition),
            (Fixture.created, .failedPrecondition),
            (Fixture.now, .failedPrecondition),
            (Fixture.second(301), .invalidArgument),
        ] as [(Timestamp, StatusCode)] {
            let error = try #require(failure(operation, .updateTime(time), on: document))
            #expect(error.code == code)
            #expect(error.path == "books/hitchhiker")
        }
    }

    @Test(arguments: kinds)
    func `An update time requires an existing document`(operation: Write.Operation) {
        #expect(failure(operation, .updateTime(Fixture.updated), on: nil)?.code == .failedPrecondition)
        #expect(failure(operation, .updateTime(Fixture.second(301)), on: nil)?.code == .invalidArgument)
    }

    @Test(arguments: kinds)
    func `Without a precondition any write succeeds, including the delete of a missing document`(
        operation: Write.Operation
    ) throws {
        #expect(failure(operation, .none, on: nil) == nil)
        #expect(try failure(operation, .none, on: Fixture.document("{}")) == nil)
    }

    @Test
    func `The precondition is checked before anything else`() throws {
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
