/// The options of a transaction.
public final class TransactionOptions {
    /// The maximum number of attempts, at least 1. The default is 5.
    ///
    /// - Precondition: It is at least 1.
    public var maxAttempts = 5 {
        didSet { precondition(maxAttempts > 0, "Invalid value for maxAttempts: \(maxAttempts). Must be greater than 0.") }
    }

    /// Creates the default options.
    public init() {}
}
