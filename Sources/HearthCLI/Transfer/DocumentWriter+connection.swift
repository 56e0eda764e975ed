import DocumentModel
import HearthClient
import HearthService

extension DocumentWriter {
    /// Makes a writer that says on standard error which documents a server doesn't take, and why.
    init(_ connection: HearthConnection) {
        self.init { writes throws(StatusError) in
            _ = try await connection.commit(writes)
        } onRefusal: { origin, error in
            Console.standardError.report("\(origin): \(error)")
        }
    }
}
