import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// What every page has around its own contents: title, way back, list of collections, styles.
struct PageChrome: Sendable {
    /// What the page's tab is called.
    var title: String
    /// The way from the top of the database to what the page shows.
    var steps: [LinkView] = []
    /// The collections at the top.
    var roots: [LinkView] = []
    /// Whether there are more collections at the top than are listed.
    var hasMoreRoots = false
    /// What lies among the collections at the top and is none.
    private(set) var damagedRoots: DamagedFiles?
    var colors = ColorStyles()
    var nonce = ""
    var styleSheetURLs: [String] = []
    var scriptURL = ""
    var liveScriptURL = ""
    var editScriptURL = ""
    var keyScriptURL = ""
    var logoURL = ""
    /// The page's own address.
    var pageURL = AdminURL.overview
    var preferences = Preferences(cookies: Cookies([]), acceptedLanguages: nil)
    /// The request that the page answers.
    var visit = Visit()
    /// Whether the page loads itself again after a while, to show how far something is.
    var refreshes = false
    /// What the page says of who asks.
    var account = Account()

    /// The frame of a page about the whole database.
    init(title: String) {
        self.title = title
    }

    /// The frame of a page about a place in the database.
    init(at segments: [UTF8Key]) {
        title = segments.suffix(2).reversed().map { DisplayText($0.string).plain }.joined(separator: " · ")
        var url = AdminURL.data([])
        for (index, segment) in segments.enumerated() {
            url += "/" + PercentEncoding.encode(segment)
            steps.append(LinkView(url: url, text: DisplayText(segment.string), isCurrent: index == segments.count - 1))
        }
    }

    /// Lists the collections at the top, as far as a page has room for.
    mutating func setRoots(_ page: CollectionPage) {
        let current = steps.first?.url
        roots = page.collections.map { id in
            let url = AdminURL.data([id.key])
            return LinkView(url: url, text: DisplayText(id.key.string), isCurrent: url == current)
        }
        hasMoreRoots = page.next != nil
        damagedRoots = DamagedFiles(page.damaged)
    }

    /// How many collections at the top are listed.
    static let rootLimit: PageSize = 200
}

extension PageChrome {
    private var languages: [Option] {
        Language.allCases.map { language in
            Option(language.rawValue, language.name, isCurrent: language == preferences.language)
        }
    }

    private var themes: [Option] {
        Theme.allCases.map { theme in
            Option(theme.rawValue, theme.name, isCurrent: theme == preferences.theme)
        }
    }
}

extension PageChrome: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "title": title
        case "stepsMarkup": steps.itemsMarkup(current: "page")
        case "rootsMarkup": roots.itemsMarkup(current: "true")
        case "hasRoots", "hasSide": !roots.isEmpty
        case "hasMoreRoots": hasMoreRoots
        case "overviewURL": AdminURL.overview
        case "database": AdminURL.database.map { DisplayText($0.description) }.orAbsent
        case "hasSteps": !steps.isEmpty
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
        case "importURL": AdminURL.importing
        case "settingsURL": AdminURL.settings
        case "refreshes": refreshes
        case "account": account
        case "mayWrite": visit.visitor.mayWrite
        case "isAdmin": visit.visitor.isAdmin
        case "formToken": visit.token.masked(by: nonce)
        case "flash": visit.flash.map { FlashView($0, path: visit.path) }.orAbsent
        case "version": ServerDescription.version
        default: nil
        }
    }
}
