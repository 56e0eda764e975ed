/// The delivery of new commits to a live stream on its event loop, while the stream's task waits.
protocol LiveDelivery: AnyObject {
    /// Sends what all commits in memory bring, up to a limit, and waits for the next one.
    ///
    /// - Parameter sent: What was sent to other streams.
    func deliver(sharing sent: inout SentFrames)
}
