import DocumentModel

/// What the responses to all page requests need: assets, error log, clock and randomness.
struct PageEnvironment: Sendable {
    let assets: PageAssets
    let errors: PageErrorLog
    let clock: @Sendable () -> Timestamp
    let nonce: @Sendable () -> String
}
