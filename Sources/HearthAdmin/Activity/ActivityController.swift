import DocumentModel
import HearthAPI
import UTF8Text

/// The controller for the activity of the server.
struct ActivityController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Shows the charts of the last hour, day or week.
    func show() async -> PageResponse {
        await request.respond { _ throws(StatusError) in
            try context.authorizeServerView()
            let span = request.query["span"].flatMap { ActivityHistory.Span(rawValue: $0.string) } ?? .hour
            let samples = context.server.metrics.history.samples(span, until: request.now)
            return .page(ActivityPage(samples, span: span, now: request.now))
        }
    }

    /// Shows the latest slow calls.
    func showSlowCalls() async -> PageResponse {
        await request.respond { _ throws(StatusError) in
            try context.authorizeServerView()
            return .page(SlowCallsPage(context.server.slowCalls, keys: context.keys, now: request.now))
        }
    }

    /// Shows the latest log entries.
    func showLog() async -> PageResponse {
        await request.respond { _ throws(StatusError) in
            try context.authorizeServerView()
            let entries = await GetServerLog.call((), in: context)
            return .page(LogPage(entries, filter: LogFilter(request.query)))
        }
    }
}

extension ServiceContext {
    /// Requires an admin with access to all databases, which pages about the server are about.
    func authorizeServerView() throws(StatusError) {
        try authorize(.admin)
        try caller.requireAccessToDatabase()
    }
}
