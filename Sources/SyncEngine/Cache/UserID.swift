/// The user whose writes are queued: each user has a queue and overlays, while documents and targets are shared.
package struct UserID: Hashable, Sendable {
    /// The ID; `nil` before anybody has signed in.
    package let string: String?

    /// Creates an ID.
    package init(_ string: String?) {
        self.string = string
    }
}
