internal import UTF8Text

extension WatchFrame {
    /// The reasons for which a server ends a stream normally.
    public enum EndReason: Hashable, Sendable {
        /// The requested duration has passed.
        case timeout
        /// The requested number of changes has been sent.
        case limit
        /// The server is shutting down.
        case shutdown
        /// The API key was revoked or has expired.
        case revoked
        /// The ID token has expired. The stream can be continued with a new one.
        case unauthenticated
        /// The client has fallen behind the retained commits.
        case slow
        /// A reason unknown to this version.
        case other(String)
    }
}

extension WatchFrame.EndReason {
    /// The `reason` of the frame.
    package var name: String {
        switch self {
        case .timeout: "timeout"
        case .limit: "limit"
        case .shutdown: "shutdown"
        case .revoked: "revoked"
        case .unauthenticated: "unauthenticated"
        case .slow: "slow"
        case .other(let name): name
        }
    }

    /// Creates the reason with a name.
    init(name: String) {
        self = Self.byName[UTF8Key(name)] ?? .other(name)
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: [Self.timeout, .limit, .shutdown, .revoked, .unauthenticated, .slow].map { (UTF8Key($0.name), $0) }
    )
}
