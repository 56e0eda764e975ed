package import HearthService
package import Hummingbird
import Logging
package import NIOCore
package import StrictJSON

/// What is known of a request besides its head and body.
package struct HearthRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// By what the log knows the request.
    let requestID = RequestID()
    /// The connection that the request came by.
    package let channel: any Channel
    /// The address of the client as a proxy tells it that is believed; nil where there is none.
    var forwardedClient: IPAddress?
    /// Who asks, once that was found out.
    package internal(set) var caller = Caller.nobody
    /// The session of a browser by which that was found out.
    package internal(set) var session: Session?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Tells the log which request it is about. Made only where there is something to tell.
    var requestLogger: Logger { logger.about(requestID) }

    /// The address of the client, or of the proxy before it that is not believed; nil where there is none, as with a socket of the
    /// file system.
    var client: IPAddress? {
        forwardedClient ?? channel.remoteAddress.flatMap { IPAddress($0) }
    }

    /// Whom the client counts as where there are limits by address.
    package var clientNetwork: UTF8Key {
        client?.network ?? ""
    }
}

extension Logger {
    /// A logger that tells which request it is about.
    func about(_ request: RequestID) -> Logger {
        var logger = self
        logger[metadataKey: "http.request.id"] = .stringConvertible(request)
        return logger
    }
}
