/// The time between two attempts of a transaction that lost a race, or of a connection.
enum RetryPause {
    /// Waits for a random time that grows with the number of attempts, so that servers that collided do not collide again.
    static func wait(after attempt: Int) async {
        let milliseconds = Double(1 << min(attempt, 7))
        // Not cancelled with a caller: the commits of others wait, too.
        let pause = Duration.milliseconds(.random(in: milliseconds...(2 * milliseconds)))
        await Task.detached { try? await Task.sleep(for: pause) }.value
    }
}
