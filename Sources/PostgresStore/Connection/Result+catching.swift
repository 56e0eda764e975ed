internal import DocumentModel

extension Result where Failure == StatusError {
    /// Calls an asynchronous function and keeps its result.
    static func catching(_ body: () async throws(StatusError) -> Success) async -> Self {
        do throws(StatusError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
