import DocumentModel

/// The shared parts that every page response needs: assets, error log, clock and randomness.
struct PageEnvironment: Sendable {
    let assets: PageAssets
    let errors: PageErrorLog
    let clock: @Sendable () -> Timestamp
    let nonce: @Sendable () -> String
}
