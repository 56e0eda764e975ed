package import Hummingbird
package import NIOCore

/// What is known of a request besides its head and body.
package struct HearthRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection that the request came by.
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
