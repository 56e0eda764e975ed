package import DocumentModel
package import StrictJSON

extension HearthConnection {
    /// Lists or changes what is indexed.
    ///
    /// - Parameters:
    ///   - method: Which of the methods `indexes.*` is called.
    ///   - write: Writes the members of its parameters.
    /// - Returns: What is indexed now, as `indexes.list` tells it.
    package func indexes(
        _ method: UTF8Key = "indexes.list",
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) async throws(StatusError) -> JSONNode {
        try await call(method, write)
    }
}
