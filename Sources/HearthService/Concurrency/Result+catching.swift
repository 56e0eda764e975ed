extension Result {
    /// What comes of steps that may wait.
    package nonisolated(nonsending) init(catching steps: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await steps())
        } catch {
            self = .failure(error)
        }
    }
}
