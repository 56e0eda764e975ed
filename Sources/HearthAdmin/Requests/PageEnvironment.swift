import DocumentModel

/// The shared parts that every page response needs: assets, error log, clock and randomness.
struct PageEnvironment: Sendable {
    let assets: PageAssets
    var errors: PageErrorLog
    let clock: @Sendable () -> Timestamp
    let nonce: @Sendable () -> String
}

extension PageEnvironment {
    /// Returns the environment of a request, whose ID the entries in the log have.
    func ofRequest(_ id: String?) -> PageEnvironment {
        guard let id else { return self }
        var environment = self
        environment.errors = errors.ofRequest(id)
        return environment
    }
}
