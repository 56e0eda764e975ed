import HTTPTypes

/// A page: its content and the layout around it.
protocol Page: ViewModel {
    /// The template of the content.
    static var template: TemplateLibrary.Name { get }
    /// The HTTP status; 200 by default.
    var status: HTTPResponse.Status { get }
    /// The layout.
    var layout: PageLayout { get set }
    /// Returns a member of the content for the template.
    func content(named name: String) -> Any?
}

extension Page {
    var status: HTTPResponse.Status { .ok }

    func child(named name: String) -> Any? {
        let child = content(named: name) ?? layout.child(named: name)
        // Mustache asks the page last, so an unknown name is an error in the template.
        assert(child != nil, "no view model of the page has a member \"\(name)\"")
        return child
    }
}
