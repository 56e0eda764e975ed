import DocumentModel
import HearthAPI
import UTF8Text

/// The latest slow calls, newest first.
struct SlowCallsPage: Page {
    static let template = TemplateLibrary.Name.slowCalls

    /// A slow call.
    struct Row: ViewModel {
        private let time: RelativeTimeView
        private let duration: String
        /// The methods of the API; the request without any.
        private let call: DisplayText
        /// The request of a call of the API; `nil` for other requests.
        private let request: DisplayText?
        private let hasFailed: Bool
        private let failure: String
        private let caller: DisplayText
        private let database: DisplayText?
        private let hasPlan: Bool
        private let plan: [DisplayText]
        private let entriesScanned: String
        private let documentsRead: String
        private let requestID: String

        init(_ entry: SlowCallLog.Entry, keyLabel: String?, now: Timestamp) {
            let facts = entry.facts
            time = RelativeTimeView(entry.time, now: now)
            duration = ChartUnit.seconds.text(entry.duration / .seconds(1))
            let methods = facts.methods.joined(separator: ", ")
            let more = facts.callCount - facts.methods.count
            let requestText = DisplayText(entry.request.truncatingMiddle(toScalars: 160))
            request = methods.isEmpty ? nil : requestText
            let names = more > 0 ? "\(methods), +\(NumberFormat.grouped(more))" : methods
            call = methods.isEmpty ? requestText : DisplayText(names)
            hasFailed = facts.failure != nil || entry.status >= 400
            failure = facts.failure ?? "\(entry.status)"
            caller = DisplayText(keyLabel ?? facts.callerText)
            database = facts.database.map { DisplayText($0.description) }
            plan = facts.plan.map { DisplayText($0) }
            hasPlan = !plan.isEmpty
            entriesScanned = NumberFormat.grouped(facts.entriesScanned)
            documentsRead = NumberFormat.grouped(facts.documentsRead)
            requestID = entry.requestID
        }
    }

    var layout = PageLayout(title: localized("Slow calls"), section: .activity)
    private let viewsMarkup = ServerView.slowCalls.linksMarkup
    private let isOff: Bool
    private let threshold: String
    private let hasCalls: Bool
    private let calls: [Row]

    init(_ log: SlowCallLog, keys: APIKeyRegistry, now: Timestamp) {
        let entries = log.entries.reversed()
        isOff = log.threshold == nil
        threshold = log.threshold.map { ChartUnit.seconds.text($0 / .seconds(1)) } ?? ""
        hasCalls = !entries.isEmpty
        let labels = Dictionary(keys.all.map { ($0.id, $0.label) }, uniquingKeysWith: { $1 })
        calls = entries.map { entry in
            let label = entry.facts.caller?.keyID.flatMap { labels[$0] }
            return Row(entry, keyLabel: label.flatMap { $0.utf8.isEmpty ? nil : $0 }, now: now)
        }
    }
}

extension RequestTrace.Facts {
    /// Names the caller: by the ID of its key, or the ID of an end user.
    fileprivate var callerText: String {
        if let id = caller?.keyID { return id.string }
        if let user = caller?.user { return user.id.uid.string }
        return clientAddress ?? "–"
    }
}
