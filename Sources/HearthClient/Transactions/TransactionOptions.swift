/// How a transaction is run.
public final class TransactionOptions {
    /// How often the transaction is tried at most, at least once; five times unless it is said otherwise.
    public var maxAttempts = 5

    /// Makes the usual options.
    public init() {}
}
