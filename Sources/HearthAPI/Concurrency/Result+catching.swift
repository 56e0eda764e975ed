extension Result {
    /// Creates a result from an asynchronous throwing closure.
    package nonisolated(nonsending) init(catching body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
