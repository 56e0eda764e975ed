import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import StrictJSON
internal import UTF8Text

/// The view model of the layout and the page inside it: title, navigation, list of collections, style sheets and scripts.
struct LayoutView: ViewModel {
    /// The content.
    private let page: any Page
    private let title: String
    private let hasBreadcrumb: Bool
    private let breadcrumbMarkup: Markup
    private let canFind: Bool
    private let findText: String
    private let findURL = AdminURL.find
    /// The path of the shown document or collection, which the search box submits.
    private let location: String?
    private let hasSidebar: Bool
    private let treeMarkup: Markup
    /// True if there are more root collections than listed.
    private let hasMoreRootCollections: Bool
    /// The ID of the database unless it is the default one.
    private let database: DisplayText?
    private let isOverview: Bool
    private let isQueryPage: Bool
    private let isRulesPage: Bool
    private let isActivityPage: Bool
    private let isDocumentation: Bool
    private let overviewURL = AdminURL.overview
    private let queryURL = AdminURL.query
    private let documentationURL = AdminURL.documentation
    private let accessKeysURL = AdminURL.keys
    private let activityURL = AdminURL.activity
    private let settingsURL = AdminURL.settings
    private let rulesURL = AdminURL.rules
    private let importURL = AdminURL.import
    private let newCollectionURL = AdminURL.newCollection
    private let hasStyles: Bool
    private let styles: String
    /// The styles for browsers that run no scripts; `nil` if there are none.
    private let scriptlessStyles: String?
    private let nonce: String
    private let styleSheetURLs: [String]
    private let scriptURL: String
    private let liveScriptURL: String
    private let editScriptURL: String
    private let refreshScriptURL: String
    private let pickerScriptURL: String
    private let inlineScriptURL: String
    private let foldScriptURL: String
    private let columnScriptURL: String
    private let filterScriptURL: String
    private let queryScriptURL: String
    private let shortcutScriptURL: String
    private let findScriptURL: String
    private let treeScriptURL: String
    private let logoURL: String
    private let language: String
    private let direction: String
    private let theme: String
    private let colorScheme: String
    /// The names of the language and the theme.
    private let preferencesText: String
    private let languagesMarkup: Markup
    private let themesMarkup: Markup
    private let preferencesURL = AdminURL.preferences
    /// The page's own URL.
    private let pageURL: String
    private let refreshes: Bool
    private let account: AccountView
    private let canWrite: Bool
    private let isAdmin: Bool
    /// True if the databases are in an engine, without files and backups of Hearth.
    private let hasEngine: Bool
    private let csrfToken: String
    private let flash: FlashView?
    private let version = ServerDescription.version
    /// The ID of the request in the server's log, of a page for whose error the server is to blame.
    private let failedRequestID: String?

    /// - Parameters:
    ///   - roots: The root collections; `nil` if the caller may not list them.
    ///   - tree: The tree of collections in the side list; `nil` for a page without it.
    ///   - pageURL: The page's own URL.
    ///   - requestID: The ID of the request.
    ///   - nonce: The nonce of the response's Content-Security-Policy.
    init(
        _ page: some Page,
        roots: CollectionPage?,
        tree: CollectionTree?,
        files: StaticFiles,
        pageURL: String,
        preferences: Preferences,
        scope: RequestScope,
        account: AccountView,
        hasEngine: Bool,
        requestID: String?,
        nonce: String
    ) {
        let layout = page.layout
        failedRequestID = page.status.code >= 500 ? requestID : nil
        self.page = page
        title = layout.title
        hasBreadcrumb = !layout.breadcrumb.isEmpty
        breadcrumbMarkup = layout.breadcrumb.itemsMarkup(current: "page")
        canFind = !scope.principal.needsSignIn
        findText = layout.findText
        location = layout.resource.map { $0.segments.map(PercentEncoding.encode).joined(separator: "/") }
        hasSidebar = tree != nil
        treeMarkup = tree?.markup ?? Markup { _ in }
        hasMoreRootCollections = roots?.next != nil
        database = AdminURL.database.map { DisplayText($0.description) }
        isOverview = layout.section == .overview
        isQueryPage = layout.section == .query
        isRulesPage = layout.section == .rules
        isActivityPage = layout.section == .activity
        isDocumentation = layout.section == .documentation
        let rules = layout.colors.rules + layout.columnRules
        hasStyles = !rules.isEmpty
        styles = rules.joined(separator: "\n")
        scriptlessStyles = layout.scriptlessRules.isEmpty ? nil : layout.scriptlessRules.joined(separator: "\n")
        self.nonce = nonce
        styleSheetURLs = StaticFiles.Asset.styleSheets.map(files.url)
        scriptURL = files.url(of: .script)
        liveScriptURL = files.url(of: .liveScript)
        editScriptURL = files.url(of: .editScript)
        refreshScriptURL = files.url(of: .refreshScript)
        pickerScriptURL = files.url(of: .pickerScript)
        inlineScriptURL = files.url(of: .inlineScript)
        foldScriptURL = files.url(of: .foldScript)
        columnScriptURL = files.url(of: .columnScript)
        filterScriptURL = files.url(of: .filterScript)
        queryScriptURL = files.url(of: .queryScript)
        shortcutScriptURL = files.url(of: .shortcutScript)
        findScriptURL = files.url(of: .findScript)
        treeScriptURL = files.url(of: .treeScript)
        logoURL = files.url(of: .logo)
        language = preferences.language.rawValue
        direction = preferences.language.direction
        theme = preferences.theme.rawValue
        colorScheme = preferences.theme.colorScheme
        preferencesText = "\(preferences.language.name) · \(preferences.theme.name)"
        languagesMarkup = Language.allCases.map { language in
            FormOption(language.rawValue, language.name, isSelected: language == preferences.language)
        }
        .buttonsMarkup(named: "lang", areLanguages: true)
        themesMarkup = Theme.allCases.map { theme in
            FormOption(theme.rawValue, theme.name, isSelected: theme == preferences.theme)
        }
        .buttonsMarkup(named: "theme")
        self.pageURL = pageURL
        refreshes = layout.refreshes
        self.account = account
        canWrite = scope.principal.canWrite
        isAdmin = scope.principal.isAdmin
        self.hasEngine = hasEngine
        csrfToken = scope.csrfToken.masked(by: nonce)
        flash = scope.flash.map { FlashView($0, path: scope.path, pageURL: pageURL) }
    }

    /// The maximum number of listed root collections.
    static let rootCollectionLimit: PageSize = 200
}
