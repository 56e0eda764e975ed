/// A line on the terminal that says how far a long piece of work is; nothing where standard error is no terminal.
struct Progress {
    private let clock = ContinuousClock()
    private var lastShown: ContinuousClock.Instant?
    private static let interval = Duration.milliseconds(100)
    private static let startOfEmptyLine = "\r\u{1B}[K"

    /// Shows a new state, not more often than somebody can read.
    mutating func show(_ state: @autoclosure () -> String) {
        guard Console.isTerminal else { return }
        let now = clock.now
        if let lastShown, now - lastShown < Self.interval { return }
        lastShown = now
        Console.write(Self.startOfEmptyLine + state())
    }

    /// Takes the line away again.
    mutating func clear() {
        guard lastShown != nil else { return }
        lastShown = nil
        Console.write(Self.startOfEmptyLine)
    }
}
