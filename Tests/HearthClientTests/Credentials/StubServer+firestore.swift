import Dispatch
import HearthClient
import TransportTestSupport

extension StubServer {
    /// Returns a database of the server, whose callbacks are called on a queue of their own.
    func firestore(
        timeout: Duration = .seconds(60),
        _ credential: FirestoreCredential?,
        _ cacheSettings: (any LocalCacheSettings)? = nil
    ) -> Firestore {
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(port)"
        settings.isSSLEnabled = false
        settings.credential = credential
        settings.timeout = timeout
        settings.cacheSettings = cacheSettings
        settings.dispatchQueue = DispatchQueue(label: "callbacks")
        return Firestore(settings: settings)
    }
}
