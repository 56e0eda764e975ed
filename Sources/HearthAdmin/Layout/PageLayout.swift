import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The view model of the layout around a page's content: title, breadcrumb, list of collections, style sheets and scripts.
struct PageLayout: Sendable {
    /// The document title.
    var title: String
    /// The links from the database's root to the shown document or collection.
    var breadcrumb: [LinkView] = []
    /// The root collections.
    var rootCollections: [LinkView] = []
    /// True if there are more root collections than listed.
    var hasMoreRootCollections = false
    /// The folders at the root that can't be read as collections.
    private(set) var damagedRootCollections: DamagedFileList?
    var colors = ColorStyleSheet()
    var nonce = ""
    var styleSheetURLs: [String] = []
    var scriptURL = ""
    var liveScriptURL = ""
    var editScriptURL = ""
    var keyScriptURL = ""
    var logoURL = ""
    /// The page's own URL.
    var pageURL = AdminURL.overview
    var preferences = Preferences(cookies: Cookies([]), acceptLanguage: nil)
    /// The request that the page responds to.
    var scope = RequestScope()
    /// True if the page reloads periodically to show progress.
    var refreshes = false
    /// The signed-in user.
    var account = AccountView()

    /// Creates the layout of a page about the whole database.
    init(title: String) {
        self.title = title
    }

    /// Creates the layout of a page about a document or collection.
    init(at segments: [UTF8Key]) {
        title = segments.suffix(2).reversed().map { DisplayText($0.string).plain }.joined(separator: " · ")
        var url = AdminURL.data([])
        for (index, segment) in segments.enumerated() {
            url += "/" + PercentEncoding.encode(segment)
            breadcrumb.append(LinkView(url: url, text: DisplayText(segment.string), isCurrent: index == segments.count - 1))
        }
    }

    /// Sets the list of root collections.
    mutating func setRootCollections(_ page: CollectionPage) {
        let current = breadcrumb.first?.url
        rootCollections = page.collections.map { id in
            let url = AdminURL.data([id.key])
            return LinkView(url: url, text: DisplayText(id.key.string), isCurrent: url == current)
        }
        hasMoreRootCollections = page.next != nil
        damagedRootCollections = DamagedFileList(page.damaged)
    }

    /// The maximum number of listed root collections.
    static let rootCollectionLimit: PageSize = 200
}

extension PageLayout {
    private var languages: [FormOption] {
        Language.allCases.map { language in
            FormOption(language.rawValue, language.name, isSelected: language == preferences.language)
        }
    }

    private var themes: [FormOption] {
        Theme.allCases.map { theme in
            FormOption(theme.rawValue, theme.name, isSelected: theme == preferences.theme)
        }
    }
}

extension PageLayout: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "title": title
        case "breadcrumbMarkup": breadcrumb.itemsMarkup(current: "page")
        case "rootCollectionsMarkup": rootCollections.itemsMarkup(current: "true")
        case "hasSidebar": !rootCollections.isEmpty
        case "hasMoreRootCollections": hasMoreRootCollections
        case "overviewURL": AdminURL.overview
        case "database": AdminURL.database.map { DisplayText($0.description) }.orAbsent
        case "hasBreadcrumb": !breadcrumb.isEmpty
        case "documentationURL": AdminURL.documentation
        case "queryURL": AdminURL.query
        case "isOverview", "isQueryPage", "isDocumentation": false
        case "hasColors": !colors.isEmpty
        case "colorStyles": colors.css
        case "nonce": nonce
        case "styleSheetURLs": styleSheetURLs
        case "scriptURL": scriptURL
        case "liveScriptURL": liveScriptURL
        case "editScriptURL": editScriptURL
        case "keyScriptURL": keyScriptURL
        case "logoURL": logoURL
        case "language": preferences.language.rawValue
        case "direction": preferences.language.direction
        case "theme": preferences.theme.rawValue
        case "colorScheme": preferences.theme.colorScheme
        case "languagesMarkup": languages.buttonsMarkup(named: "lang", areLanguages: true)
        case "themesMarkup": themes.buttonsMarkup(named: "theme")
        case "preferencesURL": AdminURL.preferences
        case "pageURL": pageURL
        case "accessKeysURL": AdminURL.keys
        case "newCollectionURL": AdminURL.newCollection
        case "importURL": AdminURL.import
        case "settingsURL": AdminURL.settings
        case "refreshes": refreshes
        case "account": account
        case "canWrite": scope.principal.canWrite
        case "isAdmin": scope.principal.isAdmin
        case "csrfToken": scope.csrfToken.masked(by: nonce)
        case "flash": scope.flash.map { FlashView($0, path: scope.path) }.orAbsent
        case "version": ServerDescription.version
        default: nil
        }
    }
}
