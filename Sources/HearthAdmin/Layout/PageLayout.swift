import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import StrictJSON
import UTF8Text

/// The parts of the layout that depend on the page: title, breadcrumb, colors and the current entry of the navigation.
struct PageLayout: Sendable {
    /// A page that the navigation links to.
    enum Section: Sendable {
        case overview
        case query
        case rules
        case activity
        case documentation
    }

    /// The document title.
    var title: String
    /// The navigation's link to this page; `nil` if it has none.
    private(set) var section: Section?
    /// The links from the database's root to the shown document or collection.
    private(set) var breadcrumb: [NavigationLink] = []
    /// The shown document or collection; `nil` for other pages.
    private(set) var resource: ResourcePath?
    /// The text in the search box.
    var findText = ""
    var colors = ColorStyleSheet()
    /// The CSS rules of a table's columns.
    var columnRules: [String] = []
    /// The CSS rules for browsers that run no scripts, without characters that HTML escapes.
    var scriptlessRules: [String] = []
    /// True if parts of the page update themselves to show progress.
    var refreshes = false

    /// Creates the layout of a page about the whole database.
    init(title: String, section: Section? = nil) {
        (self.title, self.section) = (title, section)
    }

    /// Creates the layout of a page about a document or collection.
    ///
    /// - Parameter action: The action on it with which the title begins; `nil` for the page of the document or collection itself.
    init(at segments: [UTF8Key], for action: String? = nil) {
        resource = try? ResourcePath(segments)
        let names = segments.suffix(2).reversed().map { DisplayText($0.string).plain }
        title = ((action.map { [$0] } ?? []) + names).joined(separator: " · ")
        var url = AdminURL.data([])
        for (index, segment) in segments.enumerated() {
            url += "/" + PercentEncoding.encode(segment)
            let link = LinkView(url: url, text: DisplayText(segment.string))
            breadcrumb.append(NavigationLink(link: link, isCurrent: index == segments.count - 1))
        }
    }
}
