import IdentityTokens
import Synchronization
import UTF8Text

/// The ID token that a connection has sent last, and its user. Most requests of a connection send the same one again, which is then
/// compared instead of parsed and hashed.
package final class LastIDToken: Sendable {
    /// A verified token.
    final class Entry: Sendable {
        /// The value of the `Authorization` field with the token.
        let authorization: UTF8Key
        let token: VerifiedToken
        let caller: Caller

        init(authorization: UTF8Key, token: VerifiedToken, caller: Caller) {
            self.authorization = authorization
            self.token = token
            self.caller = caller
        }
    }

    private let state = Mutex<Entry?>(nil)

    /// Creates the state of a new connection.
    package init() {}

    /// The last valid token; `nil` if there is none.
    var entry: Entry? {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
