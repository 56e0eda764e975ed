/// The options of a transaction.
public final class TransactionOptions {
    /// The maximum number of attempts, at least 1. The default is 5.
    public var maxAttempts = 5

    /// Creates the default options.
    public init() {}
}
