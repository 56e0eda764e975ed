import HTTPTypes

/// A page: its own contents, and the frame around them.
protocol Page: ViewModel {
    /// The template of the contents.
    static var template: TemplateLibrary.Name { get }
    /// The HTTP status that the page is sent with; 200 unless it says otherwise.
    var status: HTTPResponse.Status { get }
    /// The frame.
    var chrome: PageChrome { get set }
    /// What the template sees of the contents.
    func content(named name: String) -> Any?
}

extension Page {
    var status: HTTPResponse.Status { .ok }

    func child(named name: String) -> Any? {
        let child = content(named: name) ?? chrome.child(named: name)
        // Mustache asks the page last, so a name that it doesn't know either is a slip of the template.
        assert(child != nil, "no view model of the page has a member \"\(name)\"")
        return child
    }
}
