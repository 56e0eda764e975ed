import DocumentModel
import HearthAPI

/// The activity of the server in the last hour, day or week, as charts.
struct ActivityPage: Page {
    static let template = TemplateLibrary.Name.activity

    var layout = PageLayout(title: localized("Activity"), section: .activity)
    private let viewsMarkup = ServerView.activity.linksMarkup
    private let spansMarkup: Markup
    private let hasSamples: Bool
    private let charts: [ChartView]
    private let resolution: String

    /// - Parameter samples: The samples of all slots of the span, oldest first; `nil` where the server did not run.
    init(_ samples: [ActivitySample?], span: ActivityHistory.Span, now: Timestamp) {
        spansMarkup = ActivityHistory.Span.allCases
            .map { LinkOption(text: $0.text, url: AdminURL.activity(of: $0), isCurrent: $0 == span) }
            .itemsMarkup(current: "true")
        hasSamples = samples.contains { $0 != nil }
        charts = hasSamples ? ActivityCharts(samples, span: span, now: now).all : []
        resolution = span.resolution
    }
}

extension ActivityHistory.Span {
    /// The name of the span in the language of the page.
    fileprivate var text: String {
        switch self {
        case .hour: localized("Last hour")
        case .day: localized("Last day")
        case .week: localized("Last week")
        }
    }

    /// The length of a slot in the language of the page.
    fileprivate var resolution: String {
        RelativeTime.text(of: .seconds(slotSeconds))
    }
}
