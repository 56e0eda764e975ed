import DocumentModel
import DocumentStore
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
    private let hasSidebar: Bool
    private let rootCollectionsMarkup: Markup
    /// True if there are more root collections than listed.
    private let hasMoreRootCollections: Bool
    /// The ID of the database unless it is the default one.
    private let database: DisplayText?
    private let isOverview: Bool
    private let isQueryPage: Bool
    private let isRulesPage: Bool
    private let isDocumentation: Bool
    private let overviewURL = AdminURL.overview
    private let queryURL = AdminURL.query
    private let documentationURL = AdminURL.documentation
    private let accessKeysURL = AdminURL.keys
    private let settingsURL = AdminURL.settings
    private let rulesURL = AdminURL.rules
    private let importURL = AdminURL.import
    private let newCollectionURL = AdminURL.newCollection
    private let hasColors: Bool
    private let colorStyles: String
    private let nonce: String
    private let styleSheetURLs: [String]
    private let scriptURL: String
    private let liveScriptURL: String
    private let editScriptURL: String
    private let shortcutScriptURL: String
    private let logoURL: String
    private let language: String
    private let direction: String
    private let theme: String
    private let colorScheme: String
    private let languagesMarkup: Markup
    private let themesMarkup: Markup
    private let preferencesURL = AdminURL.preferences
    /// The page's own URL.
    private let pageURL: String
    private let refreshes: Bool
    private let account: AccountView
    private let canWrite: Bool
    private let isAdmin: Bool
    private let csrfToken: String
    private let flash: FlashView?
    private let version = ServerDescription.version

    /// - Parameters:
    ///   - roots: The root collections; `nil` if the caller may not list them.
    ///   - pageURL: The page's own URL.
    ///   - nonce: The nonce of the response's Content-Security-Policy.
    init(
        _ page: some Page,
        roots: CollectionPage?,
        files: StaticFiles,
        pageURL: String,
        preferences: Preferences,
        scope: RequestScope,
        account: AccountView,
        nonce: String
    ) {
        let layout = page.layout
        self.page = page
        title = layout.title
        hasBreadcrumb = !layout.breadcrumb.isEmpty
        breadcrumbMarkup = layout.breadcrumb.itemsMarkup(current: "page")
        let collections = (roots?.collections ?? []).map { id in
            let link = LinkView(url: AdminURL.data([id.key]), text: DisplayText(id.key.string))
            return NavigationLink(link: link, isCurrent: link.url == layout.breadcrumb.first?.link.url)
        }
        // The overview lists the collections itself.
        hasSidebar = !collections.isEmpty && layout.section != .overview
        rootCollectionsMarkup = collections.itemsMarkup(current: "true")
        hasMoreRootCollections = roots?.next != nil
        database = AdminURL.database.map { DisplayText($0.description) }
        isOverview = layout.section == .overview
        isQueryPage = layout.section == .query
        isRulesPage = layout.section == .rules
        isDocumentation = layout.section == .documentation
        hasColors = !layout.colors.isEmpty
        colorStyles = layout.colors.css
        self.nonce = nonce
        styleSheetURLs = StaticFiles.Asset.styleSheets.map(files.url)
        scriptURL = files.url(of: .script)
        liveScriptURL = files.url(of: .liveScript)
        editScriptURL = files.url(of: .editScript)
        shortcutScriptURL = files.url(of: .shortcutScript)
        logoURL = files.url(of: .logo)
        language = preferences.language.rawValue
        direction = preferences.language.direction
        theme = preferences.theme.rawValue
        colorScheme = preferences.theme.colorScheme
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
        csrfToken = scope.csrfToken.masked(by: nonce)
        flash = scope.flash.map { FlashView($0, path: scope.path) }
    }

    /// The maximum number of listed root collections.
    static let rootCollectionLimit: PageSize = 200
}
