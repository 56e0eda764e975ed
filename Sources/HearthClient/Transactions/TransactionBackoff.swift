/// The delays between the attempts of a transaction whose documents others change.
///
/// The server names a delay, which gives contending clients time slots one after another. It does not know how much longer an attempt
/// takes on a slow network or a busy client, which the duration of the last attempt tells: a delay is also any time up to four times that,
/// and up to three times more with each attempt ("full jitter": M. Brooker, Exponential Backoff and Jitter, 2015). It ends at Firestore's
/// longest delay.
enum TransactionBackoff {
    private static let longestDelay = Duration.seconds(60)

    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far, from 1.
    ///   - duration: The time that the last attempt has taken.
    ///   - minimum: The delay that the server has named.
    static func delay(
        after attempt: Int,
        lasting duration: Duration,
        atLeast minimum: Duration = .zero,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let factor = [4, 12, 36, 108][min(attempt, 4) - 1]
        return max(minimum, min(duration * factor, longestDelay) * Double.random(in: 0...1, using: &generator))
    }
}
