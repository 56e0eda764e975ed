import HearthAPI
import HearthHTTP

/// A stream of live updates for a page.
struct LiveStream: Sendable {
    let session: WatchSession
    let events: any WatchEncoder
    /// The context of the caller in the database of the page.
    let context: ServiceContext
}
